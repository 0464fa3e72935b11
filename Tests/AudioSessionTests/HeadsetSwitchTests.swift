// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Testing

@testable import EarshotAudioSession

/// Tests when a Bluetooth headset is asked for its microphone.
@Suite struct HeadsetSwitchTests {
    private typealias Profile = AudioDeviceDescription.HeadsetProfile

    private static func headset(_ profile: Profile, _ id: String = "headset") -> AudioDeviceDescription {
        var headset = SessionRig.device(id, form: .headset, inputs: 0)
        headset.headsetProfile = profile
        return headset
    }
    private static let music = headset(.music(hasCallProfile: true))
    private static let call = headset(.call(codec: "msbc", sampleRate: 16_000))

    /// Passes an output every 0.1 s for some seconds. Returns the actions.
    private func run(
        _ headsetSwitch: inout HeadsetSwitch, _ output: AudioDeviceDescription?, _ seconds: Double,
        from now: inout HostTime, isWanted: Bool = true
    ) -> [HeadsetSwitch.Action] {
        var actions: [HeadsetSwitch.Action] = []
        for _ in 0..<Int((seconds * 10).rounded()) {
            actions += headsetSwitch.update(output, isWanted: isWanted, at: now)
            now = now.advanced(bySeconds: 0.1)
        }
        return actions
    }

    @Test func `the session manager is asked first, then the profile is set once, and then it is said`() {
        var now = HostTime(nanoseconds: 0)
        var headsetSwitch = HeadsetSwitch()
        #expect(run(&headsetSwitch, Self.music, 2.9, from: &now) == [.request("headset")])
        #expect(run(&headsetSwitch, Self.music, 2.9, from: &now) == [.force])
        #expect(headsetSwitch.isChanging)
        #expect(run(&headsetSwitch, Self.music, 30, from: &now) == [.release, .fail(Self.music)])
        #expect(!headsetSwitch.isChanging)
    }

    @Test func `a headset in its call profile keeps it until another output is used`() {
        var now = HostTime(nanoseconds: 0)
        var headsetSwitch = HeadsetSwitch()
        #expect(run(&headsetSwitch, Self.music, 1, from: &now) == [.request("headset")])
        #expect(run(&headsetSwitch, Self.call, 30, from: &now).isEmpty)
        #expect(run(&headsetSwitch, SessionRig.device("speakers"), 1, from: &now) == [.release])
        #expect(run(&headsetSwitch, Self.call, 1, from: &now) == [.request("headset")], "another program's")
        #expect(
            run(&headsetSwitch, Self.headset(.music(hasCallProfile: true), "other"), 0.1, from: &now)
                == [.release, .request("other")])
        #expect(run(&headsetSwitch, nil, 1, from: &now) == [.release])
    }

    @Test func `music that comes back during a call is said, and not asked again`() {
        var now = HostTime(nanoseconds: 0)
        var headsetSwitch = HeadsetSwitch()
        _ = run(&headsetSwitch, Self.music, 1, from: &now)
        _ = run(&headsetSwitch, Self.call, 10, from: &now)
        #expect(run(&headsetSwitch, Self.music, 60, from: &now) == [.release, .fail(Self.music)])
        #expect(run(&headsetSwitch, Self.call, 10, from: &now).isEmpty)
    }

    @Test func `a headset without a call profile is said once`() {
        var now = HostTime(nanoseconds: 0)
        var headsetSwitch = HeadsetSwitch()
        let headset = Self.headset(.music(hasCallProfile: false))
        #expect(run(&headsetSwitch, headset, 60, from: &now) == [.fail(headset)])
        #expect(run(&headsetSwitch, nil, 1, from: &now).isEmpty)
    }

    @Test func `without a wanted microphone nothing is asked`() {
        var now = HostTime(nanoseconds: 0)
        var headsetSwitch = HeadsetSwitch()
        #expect(run(&headsetSwitch, Self.music, 10, from: &now, isWanted: false).isEmpty)
        #expect(run(&headsetSwitch, Self.music, 1, from: &now) == [.request("headset")])
        #expect(run(&headsetSwitch, Self.music, 1, from: &now, isWanted: false) == [.release])
    }

    // MARK: In a session

    private static var devices: [AudioDeviceDescription] {
        var output = music
        output.isDefaultOutput = true
        var laptop = SessionRig.device("laptop")
        laptop.isDefaultInput = true
        return [laptop, output]
    }

    @Test func `a call asks for the headset's microphone, a player and a chosen microphone do not`() {
        #expect(SessionRig(Self.devices).headsetActions == [.request("headset")])
        var configuration = AudioSession.Configuration()
        configuration.preferredInput = "laptop"
        #expect(SessionRig(configuration, Self.devices).headsetActions.isEmpty)
        configuration = AudioSession.Configuration()
        configuration.category = .playback
        #expect(SessionRig(configuration, Self.devices).headsetActions.isEmpty)
    }

    @Test func `the request lasts while the headset changes its profile, and a refusal is an event`() {
        var rig = SessionRig(Self.devices)
        rig.snapshot.devices.removeLast()
        rig.snapshot.reconfigured = ["headset"]
        rig.run(0.8)
        var output = Self.call
        output.isDefaultOutput = true
        let microphone = SessionRig.device("headset-mic", form: .headset, outputs: 0, isDefault: true)
        rig.snapshot.devices = [SessionRig.device("laptop"), output, microphone]
        rig.snapshot.reconfigured = []
        rig.run(5)
        #expect(rig.headsetActions == [.request("headset")])
        #expect(rig.opened.last == RouteChoice(input: "headset-mic", output: "headset"))
        rig = SessionRig(Self.devices)
        rig.run(10)
        #expect(rig.headsetActions == [.request("headset"), .force, .release])
        let refusals = rig.events.filter { if case .headsetMicrophoneUnavailable = $0 { true } else { false } }
        #expect(refusals.count == 1 && rig.opened.count == 1 && rig.isOpen)
    }
}
