// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioSession
import TestSupport
import Testing

@testable import EarshotLiveCall

/// The device of a call, on simulated cards.
@Suite struct CallDeviceSessionTests {
    @Test(arguments: [false, true]) func `the playback and capture sessions are active until the device is closed`(
        isSeparate: Bool
    ) throws {
        var (playback, capture) = (AudioSession.Configuration(), AudioSession.Configuration())
        (playback.category, capture.category) = (.playback, .record)
        let output = AudioSession(SimulatedSystem.standard(), isSeparate ? playback : AudioSession.Configuration())
        let input = AudioSession(SimulatedSystem.standard(), capture)
        let device = try CallDeviceSession(output, input: isSeparate ? { _ in input } : nil)
        #expect(!output.currentRoute.isEmpty && input.currentRoute.isEmpty != isSeparate)
        #expect(device.description.hasSeparateInput == isSeparate && device.description.route.input != nil)
        #expect(device.sessions.count == (isSeparate ? 2 : 1) && device.hardwareBlockFrameCount > 0)
        device.close()
        #expect(output.currentRoute.isEmpty && input.currentRoute.isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func `the event stream ends when the device is closed`() async throws {
        let device = try CallDeviceSession(AudioSession(SimulatedSystem.standard()))
        let reader = Task { for await _ in device.events {} }
        device.close()
        await reader.value
    }

    @Test func `a microphone that cannot be opened leaves no device open`() throws {
        let output = AudioSession(SimulatedSystem.standard())
        var wanted = AudioSession.Configuration()
        (wanted.category, wanted.preferredInput) = (.record, nil)
        let input = AudioSession(SimulatedSystem([]), wanted)
        #expect(throws: AudioDeviceError.self) { try CallDeviceSession(output) { _ in input } }
        #expect(output.currentRoute.isEmpty)
    }

    /// A system with two cards and a third one that another program uses.
    private static func cards() throws -> (system: SimulatedSystem, user: any AudioDevice) {
        let cards = ["built-in", "headset", "taken"].map { id in
            SimulatedSystem.Card(
                AudioDeviceDescription(
                    id: id, backend: .simulated, name: "The \(id)", inputChannelCount: 1, outputChannelCount: 2,
                    sampleRate: 48_000), isExclusive: id == "taken")
        }
        let system = SimulatedSystem(cards)
        var request = AudioDeviceRequest()
        (request.input, request.output) = (.device(id: "taken"), .device(id: "taken"))
        return (system, try system.open(request))
    }

    @Test(.timeLimit(.minutes(10))) func `the sound moves to devices found by name, and back to the default`()
        async throws
    {
        let (system, user) = try Self.cards()
        let device = try CallDeviceSession(AudioSession(system))
        let before = device.device
        #expect(device.description.route.output?.id == "built-in")
        try device.use(input: nil, output: "heads")
        #expect(await happens { device.description.route.output?.id == "headset" })
        #expect(device.description.route.input?.id == "built-in" && device.device === before)
        try device.use(input: "headset", output: "The headset")
        #expect(await happens { device.description.route.input?.id == "headset" })
        try device.use(input: nil, output: nil)
        #expect(await happens { device.description.route.output?.id == "built-in" })
        #expect(await happens { device.description.route.input?.id == "built-in" })
        device.close()
        withExtendedLifetime(user) {}
    }

    @Test(.timeLimit(.minutes(10))) func `a separate microphone moves alone, by its own session`() async throws {
        let (playback, capture) = (try Self.cards(), try Self.cards())
        var (plays, captures) = (AudioSession.Configuration(), AudioSession.Configuration())
        (plays.category, captures.category) = (.playback, .record)
        let device = try CallDeviceSession(AudioSession(playback.system, plays)) { _ in
            AudioSession(capture.system, captures)
        }
        try device.use(input: "headset", output: "The built-in")
        #expect(await happens { device.description.route.input?.id == "headset" })
        #expect(device.description.route.output?.id == "built-in")
        #expect(device.session.configuration.preferredInput == plays.preferredInput)
        #expect(device.session.configuration.preferredOutput == "built-in")
        device.close()
        withExtendedLifetime((playback.user, capture.user)) {}
    }

    @Test(.timeLimit(.minutes(10))) func `a device that another program uses is reported, and the sound stays`()
        async throws
    {
        let (system, user) = try Self.cards()
        let device = try CallDeviceSession(AudioSession(system))
        try device.use(input: "taken", output: "taken")
        var reason: AudioDeviceError?
        for await case .deviceUnavailable(let error) in device.events {
            reason = error
            break
        }
        #expect(reason == .busy(device: "The taken"))
        #expect(device.description.route.output?.id == "built-in" && device.interruption == nil)
        device.close()
        withExtendedLifetime(user) {}
    }

    @Test func `an unknown name changes nothing`() throws {
        let (system, user) = try Self.cards()
        let device = try CallDeviceSession(AudioSession(system))
        let configuration = device.session.configuration
        for (input, output) in [("nothing", nil), (nil, "nothing"), ("built-in", "the"), ("", nil)] {
            #expect(throws: AudioDeviceError.self) { try device.use(input: input, output: output) }
        }
        #expect(device.session.configuration == configuration)
        device.close()
        withExtendedLifetime(user) {}
    }
}
