// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Testing

@testable import EarshotAudioSession

/// Tests a session's decisions when headphones are plugged in or pulled out, in the three ways in which cards show it.
@Suite struct SessionPortTests {
    typealias Port = AudioDeviceDescription.Port
    typealias Availability = AudioDeviceDescription.Port.Availability

    /// Returns a laptop's card whose loudspeaker and socket belong to one device.
    static func laptop(
        _ port: String, speaker: Availability = .unknown, headphones: Availability = .unavailable,
        microphone: String = "internal-mic"
    ) -> [AudioDeviceDescription] {
        var output = SessionRig.device("analog", form: port == "headphones" ? .headphones : .speaker, inputs: 0)
        output.ports = [
            Port(name: "speaker", form: .speaker, availability: speaker),
            Port(name: "headphones", form: .headphones, availability: headphones),
        ]
        output.portName = port
        output.isDefaultOutput = true
        var input = SessionRig.device("mic", form: .microphone, outputs: 0, isDefault: true)
        input.ports = [
            Port(name: "internal-mic", form: .microphone), Port(name: "headset-mic", form: .headset),
        ]
        input.portName = microphone
        if microphone == "headset-mic" { input.form = .headset }
        return [output, input]
    }

    static let unplugged = laptop("speaker")
    static let plugged = laptop("headphones", speaker: .unavailable, headphones: .available)

    static var playback: AudioSession.Configuration {
        var configuration = AudioSession.Configuration()
        configuration.category = .playback
        return configuration
    }

    private func pauses(_ rig: SessionRig) -> Int {
        rig.events.filter { if case .paused = $0 { true } else { false } }.count
    }

    private func change(_ rig: SessionRig) throws -> RouteChange {
        let last = rig.events.last { if case .routeChanged = $0 { true } else { false } }
        guard case .routeChanged(let change)? = last else { throw Missing() }
        return change
    }
    private struct Missing: Error {}

    @Test func `plugging in is one route change without reopening, after a settling time`() throws {
        var rig = SessionRig(Self.unplugged)
        // The availability changes before the port, in two steps.
        rig.snapshot.devices = Self.laptop("speaker", headphones: .available)
        rig.run(0.02)
        rig.snapshot.devices = Self.laptop("speaker", speaker: .unavailable, headphones: .available)
        rig.run(0.02)
        rig.snapshot.devices = Self.plugged
        rig.run(0.08)
        #expect(rig.reasons == [.activated], "too early")
        rig.run(0.06)
        #expect(rig.reasons == [.activated, .newDeviceAvailable])
        rig.run(5)
        #expect(rig.reasons.count == 2 && rig.opened.count == 1 && rig.isOpen)
        let change = try change(rig)
        #expect(change.gap == 0 && change.previous.output?.isWorn == false && change.current.output?.isWorn == true)
        #expect(change.description.hasPrefix("sound moved to the headphones of the analog"))
    }

    @Test func `a call moves to the loudspeaker at once when headphones are pulled out`() throws {
        var rig = SessionRig(Self.plugged)
        rig.snapshot.devices = Self.laptop("headphones", headphones: .available)
        rig.run(0.02)
        rig.snapshot.devices = Self.laptop("headphones", headphones: .unavailable)
        rig.run(0.02)
        #expect(rig.reasons == [.activated], "the hardware still uses the socket")
        rig.snapshot.devices = Self.unplugged
        rig.run(0.02)
        #expect(rig.reasons == [.activated, .oldDeviceUnavailable])
        rig.run(5)
        #expect(rig.reasons.count == 2 && rig.opened.count == 1 && rig.isOpen && pauses(rig) == 0)
        #expect(rig.state.route.output?.form == .speaker)
        #expect(try change(rig).description.hasSuffix("of the analog: headphones unplugged"))
    }

    @Test func `pulling out pauses a player once, and plugging in again does not resume it`() {
        var rig = SessionRig(Self.playback, Self.plugged)
        rig.snapshot.devices = Self.laptop("headphones", headphones: .unavailable)
        rig.run(0.02)
        #expect(!rig.isOpen && pauses(rig) == 1, "before the hardware changes the port")
        // A bounce of two seconds, as in https://github.com/davidjo/snd_hda_macbookpro/issues/199.
        for devices in [Self.plugged, Self.unplugged, Self.plugged] {
            rig.snapshot.devices = devices
            rig.run(1)
        }
        #expect(!rig.isOpen && pauses(rig) == 1 && rig.opened.count == 1)
        rig.state.resume()
        rig.run(1)
        #expect(rig.isOpen && rig.reasons == [.activated, .oldDeviceUnavailable])
        rig.snapshot.devices = Self.unplugged
        rig.run(1)
        #expect(pauses(rig) == 2)
    }

    @Test func `a player that is resumed before the hardware leaves the pulled port is not paused again`() {
        var rig = SessionRig(Self.playback, Self.plugged)
        for count in 1...2 {
            rig.snapshot.devices = Self.laptop("headphones", headphones: .unavailable)
            rig.run(0.02)
            #expect(!rig.isOpen && pauses(rig) == count)
            rig.state.resume()
            rig.run(0.1)
            #expect(rig.isOpen)
            rig.snapshot.devices = Self.unplugged
            rig.run(1)
            #expect(rig.isOpen && pauses(rig) == count && rig.state.route.output?.form == .speaker)
            rig.snapshot.devices = Self.plugged
            rig.run(1)
        }
        // The port is left and used again, with a sensor that always says "unavailable".
        for port in ["speaker", "headphones", "speaker"] {
            rig.state.resume()
            rig.snapshot.devices = Self.laptop(port, headphones: .unavailable)
            rig.run(1)
        }
        #expect(pauses(rig) == 4)
    }

    @Test func `plugging in does not pause a player`() {
        var rig = SessionRig(Self.playback, Self.unplugged)
        rig.snapshot.devices = Self.plugged
        rig.run(1)
        #expect(rig.isOpen && pauses(rig) == 0 && rig.reasons == [.activated, .newDeviceAvailable])
    }

    @Test func `a loudspeaker that is chosen while headphones are plugged in never pauses`() {
        var rig = SessionRig(Self.playback, Self.plugged)
        rig.snapshot.devices = Self.laptop("speaker", headphones: .available)
        rig.run(1)
        #expect(rig.isOpen && pauses(rig) == 0 && rig.reasons == [.activated, .routeConfigurationChange])
    }

    @Test func `a socket without a sensor pauses only when the port changes`() {
        let sensorless = Self.laptop("headphones", headphones: .unknown)
        var rig = SessionRig(Self.playback, Self.plugged)
        rig.snapshot.devices = sensorless
        rig.run(1)
        #expect(rig.isOpen && pauses(rig) == 0 && rig.reasons == [.activated], "unknown alone")
        rig.snapshot.devices = Self.laptop("speaker", headphones: .unknown)
        rig.run(1)
        #expect(pauses(rig) == 1)
    }

    @Test func `the microphone of a headset follows its headphones in the same change`() throws {
        var rig = SessionRig(Self.unplugged)
        rig.snapshot.devices = Self.plugged
        rig.run(0.06)
        rig.snapshot.devices = Self.laptop("headphones", headphones: .available, microphone: "headset-mic")
        rig.run(1)
        #expect(rig.reasons == [.activated, .newDeviceAvailable])
        #expect(try change(rig).current.input?.form == .headset)
    }

    @Test func `a headset's microphone that may be there does not take the capture`() {
        var rig = SessionRig(Self.unplugged)
        rig.snapshot.devices = Self.plugged
        rig.snapshot.devices[1].ports[1].availability = .unknown
        rig.run(1)
        #expect(rig.state.route.input?.portName == "internal-mic" && rig.opened.count == 1)
    }

    @Test func `a port change before the first callback is part of the earlier report`() throws {
        var rig = SessionRig([SessionRig.device("old", isDefault: true)])
        rig.isCalling = false
        rig.snapshot.devices = Self.unplugged
        rig.run(0.2)
        rig.snapshot.devices = Self.plugged
        rig.run(0.2)
        #expect(rig.reasons == [.activated])
        rig.isCalling = true
        rig.run(1)
        #expect(rig.reasons == [.activated, .oldDeviceUnavailable])
        #expect(try change(rig).current.output?.isWorn == true)
        #expect(try change(rig).previous.output?.id == "old")
    }

    // MARK: Cards with a device for each socket

    /// Returns devices for each socket, of which the headphones are the default.
    static func sockets(headphones: Availability, isDefault: Bool = true) -> [AudioDeviceDescription] {
        func device(_ id: String, _ form: AudioDeviceDescription.Form, _ availability: Availability)
            -> AudioDeviceDescription
        {
            var device = SessionRig.device(id, form: form, inputs: 0)
            device.ports = [Port(name: id, form: form, availability: availability)]
            device.portName = id
            device.isDefaultOutput = (id == "headphones") == isDefault && id != "hdmi"
            return device
        }
        return [
            device("hdmi", .speaker, .unavailable), device("speaker", .speaker, .unknown),
            device("headphones", .headphones, headphones),
        ]
    }

    @Test func `headphones whose device stays listed pause a player before the default changes`() {
        var rig = SessionRig(Self.playback, Self.sockets(headphones: .available))
        rig.snapshot.devices = Self.sockets(headphones: .unavailable)
        rig.run(0.02)
        #expect(pauses(rig) == 1 && !rig.isOpen)
        rig.snapshot.devices = Self.sockets(headphones: .unavailable, isDefault: false)
        rig.run(1)
        rig.state.resume()
        rig.run(1)
        #expect(rig.opened.last == RouteChoice(output: "speaker") && pauses(rig) == 1)
    }

    @Test(arguments: [true, false])
    func `a call leaves headphones whose device stays listed, and moves once`(isDefaultMoved: Bool) {
        var rig = SessionRig(Self.sockets(headphones: .available))
        rig.snapshot.devices = Self.sockets(headphones: .unavailable)
        rig.run(0.02)
        #expect(!rig.isOpen, "the sound would not be heard")
        if isDefaultMoved { rig.snapshot.devices = Self.sockets(headphones: .unavailable, isDefault: false) }
        rig.run(5)
        #expect(rig.opened == [RouteChoice(output: "headphones"), RouteChoice(output: "speaker")])
        #expect(rig.reasons == [.activated, .oldDeviceUnavailable], "HDMI without a screen is skipped")
        rig.snapshot.devices = Self.sockets(headphones: .available)
        rig.run(1)
        #expect(rig.opened.last == RouteChoice(output: "headphones") && rig.reasons.last == .newDeviceAvailable)
    }

    @Test func `a sensor that is always off does not keep a preferred device from being used`() {
        var configuration = Self.playback
        configuration.preferredOutput = "headphones"
        var rig = SessionRig(configuration, Self.sockets(headphones: .unavailable, isDefault: false))
        rig.run(5)
        #expect(rig.opened == [RouteChoice(output: "headphones")] && rig.isOpen && pauses(rig) == 0)
    }

    @Test func `a screen that is not connected is not the first hardware`() {
        let devices = Self.sockets(headphones: .unavailable).map {
            var device = $0
            device.isDefaultOutput = false
            return device
        }
        #expect(RoutePolicy(configuration: Self.playback).choice(among: devices) == RouteChoice(output: "speaker"))
    }

    @Test func `a default that changes twice within 20 ms is one route change`() {
        var rig = SessionRig(Self.sockets(headphones: .available, isDefault: false))
        rig.run(5)
        for isDefault in [true, false, true] {
            rig.snapshot.devices = Self.sockets(headphones: .available, isDefault: isDefault)
            rig.run(0.02)
        }
        rig.run(1)
        #expect(rig.reasons == [.activated, .defaultChanged])
    }

    @Test func `on a card whose profiles exclude each other, plugging in is the arrival of headphones`() {
        let before = [SessionRig.device("speaker", inputs: 0), SessionRig.device("mic1", outputs: 0)]
        var rig = SessionRig([Self.asDefault(before[0]), Self.asDefault(before[1])])
        var headphones = SessionRig.device("headphones", form: .headphones, inputs: 0)
        // The sinks and the microphone are new at once; the default follows 50 ms later.
        rig.snapshot.devices = [headphones, SessionRig.device("mic2", outputs: 0)]
        rig.run(0.04)
        headphones = Self.asDefault(headphones)
        rig.snapshot.devices = [headphones, Self.asDefault(SessionRig.device("mic2", outputs: 0))]
        rig.run(5)
        #expect(rig.opened.dropFirst() == [RouteChoice(input: "mic2", output: "headphones")])
        #expect(rig.reasons == [.activated, .newDeviceAvailable])
    }

    private static func asDefault(_ device: AudioDeviceDescription) -> AudioDeviceDescription {
        var device = device
        device.isDefaultInput = device.inputChannelCount > 0
        device.isDefaultOutput = device.outputChannelCount > 0
        return device
    }
}
