// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Testing

@testable import EarshotAudioSession

/// Tests a session's decisions while a Bluetooth headset changes between music and calls, for which it has no devices.
@Suite struct SessionProfileTests {
    static let laptop = SessionRig.device("laptop")
    static let defaultLaptop = SessionRig.device("laptop", isDefault: true)
    static var headset: AudioDeviceDescription {
        var headset = SessionRig.device("headset", form: .headset, inputs: 0, isDefault: true)
        headset.transport = .bluetooth
        headset.headsetProfile = .music(hasCallProfile: true)
        return headset
    }
    static var microphone: AudioDeviceDescription {
        SessionRig.device("headset-mic", form: .headset, outputs: 0, isDefault: true)
    }
    /// The laptop's card, which is the default input beside the headset.
    static var laptopInput: AudioDeviceDescription {
        var laptop = laptop
        laptop.isDefaultInput = true
        return laptop
    }

    private static func rig(_ category: AudioSession.Category) -> SessionRig {
        var configuration = AudioSession.Configuration()
        configuration.category = category
        return SessionRig(configuration, [laptopInput, headset])
    }

    private func isPaused(_ rig: SessionRig) -> Bool {
        rig.events.contains { if case .paused = $0 { true } else { false } }
    }

    @Test(arguments: [AudioSession.Category.playAndRecord, .playback], [false, true])
    func `a change of the profile is one route change, without a pause or another device`(
        category: AudioSession.Category, isFailureFirst: Bool
    ) {
        var rig = Self.rig(category)
        if isFailureFirst {
            rig.snapshot.failure = .deviceGone(name: "the headset")
            rig.run(0.02)
        }
        // The system makes the laptop the default meanwhile.
        rig.snapshot.devices = [Self.defaultLaptop]
        rig.snapshot.reconfigured = ["headset"]
        rig.run(0.8)
        #expect(!rig.isOpen && rig.opened.count == 1)
        var output = Self.headset
        output.isDefaultOutput = false
        var input = Self.microphone
        input.isDefaultInput = false
        rig.snapshot.devices = [Self.defaultLaptop, output, input]
        rig.snapshot.reconfigured = []
        rig.run(0.04)
        rig.snapshot.devices = [Self.laptop, Self.headset, Self.microphone]
        rig.run(5)
        let expected = RouteChoice(input: category == .playback ? nil : "headset-mic", output: "headset")
        #expect(rig.opened.dropFirst() == [expected])
        #expect(rig.reasons == [.activated, .routeConfigurationChange])
        #expect(!isPaused(rig) && rig.interruptions.isEmpty)
    }

    @Test func `a microphone that returns before its headset's output waits for it`() {
        var rig = Self.rig(.playAndRecord)
        rig.snapshot.devices = []
        rig.snapshot.reconfigured = ["headset"]
        rig.run(0.5)
        rig.snapshot.devices = [Self.microphone]
        rig.run(0.5)
        #expect(!rig.isOpen && rig.opened.count == 1)
        rig.snapshot.devices.append(Self.headset)
        rig.snapshot.reconfigured = []
        rig.run(2)
        #expect(rig.opened.dropFirst() == [RouteChoice(input: "headset-mic", output: "headset")])
        #expect(rig.reasons == [.activated, .routeConfigurationChange])
    }

    @Test(arguments: [AudioSession.Category.playAndRecord, .playback])
    func `a headset that is removed during the change is lost at once`(category: AudioSession.Category) {
        var rig = Self.rig(category)
        rig.snapshot.devices = [Self.defaultLaptop]
        rig.snapshot.reconfigured = ["headset"]
        rig.run(0.3)
        rig.snapshot.reconfigured = []
        rig.run(0.02)
        if category == .playback {
            #expect(isPaused(rig) && !rig.isOpen)
        } else {
            rig.run(0.1)
            #expect(rig.opened.last?.output == "laptop" && rig.reasons.last == .oldDeviceUnavailable)
        }
    }

    @Test func `a headset that does not return within three seconds is lost`() {
        var rig = Self.rig(.playAndRecord)
        rig.snapshot.devices = [Self.defaultLaptop]
        rig.snapshot.reconfigured = ["headset"]
        rig.run(2.9)
        #expect(!rig.isOpen)
        rig.run(0.3)
        #expect(rig.isOpen && rig.opened.last?.output == "laptop")
        rig.run(5)
        #expect(rig.reasons == [.activated, .oldDeviceUnavailable])
    }

    @Test func `a headset that returns while another default stays is left`() {
        var rig = Self.rig(.playAndRecord)
        rig.snapshot.devices = [Self.defaultLaptop]
        rig.snapshot.reconfigured = ["headset"]
        rig.run(0.5)
        var output = Self.headset
        output.isDefaultOutput = false
        rig.snapshot.devices = [Self.defaultLaptop, output]
        rig.snapshot.reconfigured = []
        rig.run(5)
        #expect(rig.opened.count == 2 && rig.opened.last?.output == "laptop")
        #expect(rig.reasons == [.activated, .defaultChanged])
    }

    @Test func `a lost server ends the waiting`() {
        var rig = Self.rig(.playAndRecord)
        rig.snapshot.devices = [Self.defaultLaptop]
        rig.snapshot.reconfigured = ["headset"]
        rig.run(0.5)
        rig.snapshot.devices = []
        rig.snapshot.reconfigured = []
        rig.snapshot.isServerGone = true
        rig.run(1)
        #expect(rig.interruptions == [.serverGone])
        rig.snapshot.isServerGone = false
        rig.snapshot.devices = [Self.laptop, Self.headset, Self.microphone]
        rig.run(1)
        #expect(rig.isOpen && rig.reasons == [.activated, .serverRestarted])
    }
}
