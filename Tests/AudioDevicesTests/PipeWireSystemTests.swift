// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// Tests the list of a real server, and the time of its changes.
@Suite("PipeWireSystem", .serialized, .realTime, .needs("pipewire")) struct PipeWireSystemTests {
    static let headset = PipeWireServer.Device.sink(
        "headset", ["node.description": "My Headset", "device.bus": "bluetooth", "device.form-factor": "headset"])

    @Test("devices are listed with name, kind, channels, rates and defaults")
    func list() throws {
        let wide = PipeWireServer.Device.sink("wide", channelCount: 8, sampleRate: 96_000, ["priority.session": "500"])
        try PipeWireServer.running(devices: [Self.headset, .source("microphone"), wide]) { server in
            let system = try PipeWireSystem(remote: server.remote)
            #expect(system.failure == nil && system.backend == .pipewire)
            #expect(eventually { system.hardware.count == 3 && system.devices.contains(where: \.isDefaultInput) })
            let headset = try #require(system.devices.first { $0.id == "headset" })
            #expect(headset.backend == .pipewire && headset.name == "My Headset")
            #expect(headset.transport == .bluetooth && headset.form == .headset && headset.isWorn)
            #expect(headset.inputChannelCount == 0 && headset.outputChannelCount == 2)
            #expect(headset.blockFrameCounts == 16...8_192)
            #expect(headset.isDefaultOutput && !headset.isDefaultInput)
            #expect(eventually { system.devices.count == 5 })
            let monitor = try #require(system.devices.first { $0.id == "headset.monitor" })
            #expect(monitor.name == "Monitor of My Headset" && monitor.form == .monitor && !monitor.isDefaultInput)
            #expect(monitor.inputChannelCount == 2 && monitor.outputChannelCount == 0)
            #expect(try system.devices.device(named: "wide.monitor", .input).inputChannelCount == 8)
            let microphone = try #require(system.devices.first { $0.id == "microphone" })
            #expect(microphone.inputChannelCount == 1 && microphone.outputChannelCount == 0)
            #expect(microphone.transport == .virtual && microphone.isDefaultInput)
            let wide = try #require(system.devices.first { $0.id == "wide" })
            #expect(wide.outputChannelCount == 8 && wide.sampleRates == [96_000] && !wide.isDefaultOutput)
        }
    }

    /// Collects a system's events beside a test that may not suspend.
    private final class News: Sendable {
        private let all = Mutex<[AudioDeviceChange]>([])
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ system: PipeWireSystem) {
            let changes = system.changes()
            task.withLock { task in
                task = Task.detached { [weak self] in
                    for await change in changes { self?.all.withLock { $0.append(change) } }
                }
            }
        }

        deinit { task.withLock { $0?.cancel() } }

        func contains(_ isMeant: (AudioDeviceChange) -> Bool) -> Bool { all.withLock { $0.contains(where: isMeant) } }
    }

    @Test("added devices, removed devices and changed defaults are reported")
    func changes() throws {
        try PipeWireServer.running(devices: [.sink("speakers"), .source("microphone")]) { server in
            let system = try PipeWireSystem(remote: server.remote)
            #expect(eventually { system.devices.contains(where: \.isDefaultOutput) })
            let news = News(system)
            try server.add(Self.headset)
            #expect(
                eventually { news.contains { if case .added(let new) = $0 { new.id == "headset" } else { false } } })
            try server.setDefaultOutput("headset")
            #expect(
                eventually {
                    news.contains { if case .defaultOutput(let new) = $0 { new?.id == "headset" } else { false } }
                })
            try server.remove("headset")
            #expect(
                eventually { news.contains { if case .removed(let old) = $0 { old.id == "headset" } else { false } } })
            #expect(
                eventually { system.devices.first(where: \.isDefaultOutput)?.id == "speakers" })
            try server.setDefaultInput("microphone")
            try server.remove("microphone")
            #expect(eventually { news.contains { $0 == .defaultInput(nil) } })
        }
    }

    @Test("a socket of another user is reported with its owner, without mentioning groups")
    func otherUsersSocket() throws {
        let folder = "\(NSTemporaryDirectory())earshot-test-owner-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var owner = String(cString: try #require(getpwuid(getuid())).pointee.pw_name)
        if chown(folder, 1, 1) == 0, let other = getpwuid(1) { owner = String(cString: other.pointee.pw_name) }
        let path = "\(folder)/pipewire-0"
        let error = PipeWireConnection.notPermitted(path)
        #expect(error == .otherUsersServer(.pipewire, socket: path, owner: owner))
        #expect(error.description.hasSuffix("is \(owner)'s") && !error.description.contains("group"))
        let unknown = PipeWireConnection.notPermitted("/nonexistent/earshot/pipewire-0")
        #expect(unknown.description.hasSuffix("is another user's"))
    }

    @Test("no default devices are listed without the session manager")
    func sessionManagerGone() throws {
        try PipeWireServer.running(devices: [.sink("speakers"), .source("microphone")]) { server in
            let system = try PipeWireSystem(remote: server.remote)
            #expect(eventually { system.devices.contains(where: \.isDefaultOutput) })
            let number = system.hub.loop.locked { system.hub.graph.metadata.first { $0.value == .defaults }?.key }
            try server.run(["pw-cli", "destroy", "\(try #require(number))"])
            #expect(eventually { !system.devices.contains { $0.isDefaultOutput || $0.isDefaultInput } })
            #expect(system.devices.contains { $0.id == "speakers" })
        }
    }

    @Test("the device list is emptied when the server stops, and refilled after its restart")
    func restart() throws {
        try PipeWireServer.running(devices: [.sink("speakers"), .source("microphone")]) { server in
            let system = try PipeWireSystem(remote: server.remote)
            for _ in 0..<3 {
                #expect(eventually { system.hardware.count == 2 && system.failure == nil })
                server.stop()
                #expect(eventually { system.devices.isEmpty })
                #expect(system.failure == .noServer(.pipewire, server: server.remote, onPipeWire: false))
                #expect(throws: AudioDeviceError.self) { try system.open(AudioDeviceRequest()) }
                try server.start()
            }
            #expect(eventually { system.devices.contains(where: \.isDefaultOutput) })
            let device = try system.open(AudioDeviceRequest())
            #expect(device.failure == nil)
        }
    }

    @Test("a missing server is reported at once, and the failure is cleared when one starts")
    func noServer() throws {
        let none = try PipeWireSystem(remote: "earshot-test-none-\(getpid())")
        #expect(none.devices.isEmpty)
        let failure = try #require(none.failure)
        #expect(failure == .noServer(.pipewire, server: "earshot-test-none-\(getpid())", onPipeWire: false))
        #expect(throws: failure) { try none.open(AudioDeviceRequest()) }
        try PipeWireServer.running(devices: [.sink("speakers")]) { server in
            server.stop()
            let system = try PipeWireSystem(remote: server.remote)
            #expect(system.failure != nil)
            try server.start()
            #expect(eventually { system.failure == nil && system.hardware.count == 1 })
        }
    }

    @Test("an unknown device is rejected, and similar names are suggested")
    func unknownDevice() throws {
        try PipeWireServer.running(devices: [Self.headset, .source("microphone")]) { server in
            let system = try PipeWireSystem(remote: server.remote)
            #expect(eventually { system.hardware.count == 2 })
            var request = AudioDeviceRequest()
            request.output = .device(id: "headsat")
            #expect(throws: AudioDeviceError.noDevice(name: "headsat", near: ["My Headset"])) {
                try system.open(request)
            }
            request.output = .device(id: "microphone")  // no output
            #expect(throws: AudioDeviceError.self) { try system.open(request) }
            request.output = .none
            request.input = .device(id: "nothing.monitor")
            #expect(throws: AudioDeviceError.self) { try system.open(request) }
            request.inputChannelCount = 99
            #expect(throws: AudioDeviceError.self) { try system.open(request) }
        }
    }

    @Test("a missing default device is left out, and an error is thrown if both are missing")
    func missingDefaults() throws {
        try PipeWireServer.running { server in
            let system = try PipeWireSystem(remote: server.remote)
            #expect(system.devices.isEmpty && system.failure == nil)
            #expect(throws: AudioDeviceError.noDefaultDevice(.output)) { try system.open(AudioDeviceRequest()) }
            try server.add(.source("microphone"))
            #expect(eventually { system.devices.contains(where: \.isDefaultInput) })
            let device = try system.open(AudioDeviceRequest())
            #expect(device.inputChannelCount == 1 && device.outputChannelCount == 0)
            #expect(device.name == "microphone")
        }
    }
}
