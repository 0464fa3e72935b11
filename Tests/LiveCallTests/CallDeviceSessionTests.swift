// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioSession
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
}
