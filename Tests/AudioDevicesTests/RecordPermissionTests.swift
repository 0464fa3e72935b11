// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// Tests the permission to record, which is found without opening a device.
@Suite struct RecordPermissionTests {
    /// Runs a test with files below a folder that replaces the root of the file system.
    private func withFiles<R>(_ files: [String: String], _ body: (String) throws -> R) throws -> R {
        let root = "\(NSTemporaryDirectory())earshot-permission-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        for (path, text) in files {
            let folder = (path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: "\(root)\(folder)", withIntermediateDirectories: true)
            try text.write(toFile: "\(root)\(path)", atomically: false, encoding: .utf8)
        }
        return try body(root)
    }

    private func permission(
        _ system: SimulatedSystem, _ files: [String: String] = [:], id: String? = nil
    ) throws -> RecordPermission {
        try withFiles(files) { root in
            system.recordPermission(
                ofInput: id, switches: MicrophoneSwitches(root: root), sandbox: AudioSandbox(root: root))
        }
    }

    private static func system(
        _ transport: AudioDeviceDescription.Transport = .builtIn, outputs: Int = 0,
        ports: [AudioDeviceDescription.Port] = []
    ) -> SimulatedSystem {
        var microphone = AudioDeviceDescription(
            id: "mic", backend: .simulated, name: "Microphone", transport: transport, inputChannelCount: 1,
            outputChannelCount: outputs)
        microphone.ports = ports
        return SimulatedSystem([SimulatedSystem.Card(microphone)])
    }

    private static func state(_ word: String) -> [String: String] {
        [
            "/sys/bus/wmi/devices/6932965F-1671-4CEB-B988-D3AB0A901919-1/dell_privacy_current_state":
                "[Microphone] [\(word)]\n[Camera Shutter] [muted]\n"
        ]
    }
    private static let light = ["/sys/class/leds/platform::micmute/brightness": "1\n"]

    @Test func `a microphone without an obstacle is granted`() throws {
        #expect(try permission(Self.system()) == .granted)
        #expect(try permission(Self.system(), Self.state("unmuted")) == .granted)
        #expect(try permission(Self.system(), id: "mic") == .granted)
        #expect(RecordPermission.granted.reason == nil)
    }

    @Test func `a privacy key denies the machine's own microphone, and no other`() throws {
        #expect(try permission(Self.system(), Self.state("muted")) == .denied(.hardwareSwitch))
        #expect(try permission(Self.system(.usb), Self.state("muted")) == .granted)
    }

    @Test func `the mute key's light alone never denies`() throws {
        #expect(try permission(Self.system(), Self.light) == .unknown(.hardwareSwitch))
        #expect(try permission(Self.system(.bluetooth), Self.light) == .granted)
        let dark = ["/sys/class/leds/platform::micmute/brightness": "0\n", "/sys/class/leds/other/brightness": "1"]
        #expect(try permission(Self.system(), dark) == .granted)
    }

    @Test func `an empty socket never denies, since its sensor may be wrong`() throws {
        typealias Port = AudioDeviceDescription.Port
        let socket = Port(name: "mic", form: .microphone, availability: .unavailable)
        let builtIn = Port(name: "internal-mic", form: .microphone)
        #expect(try permission(Self.system(ports: [socket])) == .unknown(.notPluggedIn))
        #expect(try permission(Self.system(ports: [socket, builtIn])) == .granted)
        #expect(try permission(Self.system(outputs: 2, ports: [socket])) == .granted, "the ports of its output")
    }

    @Test func `no microphone and no server are unknown, and a sandbox without sound is the reason`() throws {
        let empty = SimulatedSystem()
        #expect(try permission(empty) == .unknown(.noMicrophone))
        #expect(try permission(Self.system(), id: "other") == .unknown(.noMicrophone))
        let context = "[Application]\nname=org.example\n[Context]\nshared=network;\nsockets="
        #expect(try permission(empty, ["/.flatpak-info": "\(context)x11;wayland;\n"]) == .unknown(.sandbox))
        #expect(try permission(empty, ["/.flatpak-info": "\(context)x11;pulseaudio;\n"]) == .unknown(.noMicrophone))
        empty.kill()
        #expect(try permission(empty) == .unknown(.noServer))
    }

    // MARK: ALSA

    private static let pcms = """
        00-00: ALC257 Analog : ALC257 Analog : playback 1 : capture 1
        00-03: HDMI 0 : HDMI 0 : playback 1
        01-00: USB Audio : USB Audio : capture 1

        damaged
        """

    @Test func `cards that the user may not open are found in the kernel's list`() {
        let nodes = ALSANodes(Self.pcms) { _ in false }
        #expect(
            nodes.pcms.map(\.path) == [
                "/dev/snd/pcmC0D0c", "/dev/snd/pcmC0D0p", "/dev/snd/pcmC0D3p", "/dev/snd/pcmC1D0c",
            ])
        #expect(nodes.forbiddenPath(.output) == "/dev/snd/pcmC0D0p")
        #expect(nodes.forbiddenPath(.input, card: 1) == "/dev/snd/pcmC1D0c")
        #expect(nodes.forbiddenPath(.input, card: 0, device: 3) == nil)
        let others = ALSANodes(Self.pcms) { !$0.contains("C1") }
        #expect(others.forbiddenPath(.input) == "/dev/snd/pcmC1D0c" && others.forbiddenPath(.output) == nil)
        #expect(ALSANodes(nil).forbiddenPath(nil) == nil)
    }

    @Test func `access that is taken while the program runs is noticed`() {
        // The login manager takes the device from one user and gives it to another.
        let isActive = LockedFlag()
        let nodes = ALSANodes(Self.pcms) { _ in isActive.value }
        #expect(nodes.forbiddenPath(.input) == nil)
        isActive.value = false
        #expect(nodes.forbiddenPath(.input) == "/dev/snd/pcmC0D0c")
    }
    private final class LockedFlag { var value = true }  // used on one thread

    @Test func `a mixer denies only if all its capture switches are off or all volumes are at their minimum`() {
        #expect(ALSACaptureMixer().obstacle == nil)
        #expect(ALSACaptureMixer(switches: [false, true], volumes: [true]).obstacle == nil)
        #expect(ALSACaptureMixer(switches: [false, false], volumes: [true]).obstacle == .muted)
        #expect(ALSACaptureMixer(switches: [true], volumes: [false]).obstacle == .zeroVolume)
        #expect(ALSACaptureMixer(switches: [], volumes: [false, true]).obstacle == nil)
    }
}

/// Tests the permission with a real server.
@Suite(.serialized, .realTime, .needs("pipewire")) struct PipeWireRecordPermissionTests {
    @Test func `a mute or a volume of 0 is known before a microphone is opened, and its end too`() throws {
        try PipeWireServer.running(devices: [.sink("speakers"), .source("microphone")]) { server in
            let system = try PipeWireSystem(remote: server.remote)
            #expect(eventually { system.devices.contains(where: \.isDefaultInput) })
            func permission(_ id: String? = nil) -> RecordPermission {
                system.recordPermission(
                    ofInput: id, switches: MicrophoneSwitches(root: "/nonexistent"),
                    sandbox: AudioSandbox(root: "/nonexistent"))
            }
            #expect(eventually { permission() == .granted })
            try server.run(["pactl", "set-source-mute", "microphone", "1"])
            #expect(eventually { permission() == .denied(.muted) })
            #expect(permission("microphone") == .denied(.muted))
            #expect(permission("speakers.monitor") == .granted)
            try server.run(["pactl", "set-source-mute", "microphone", "0"])
            #expect(eventually { permission() == .granted })
            try server.run(["pactl", "set-source-volume", "microphone", "0"])
            #expect(eventually { permission() == .denied(.zeroVolume) })
            server.stop()
            #expect(eventually { permission() == .unknown(.noServer) })
            try server.start()
        }
    }
}
