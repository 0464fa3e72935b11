// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import Glibc
import TestTraits
import Testing

@testable import EarshotLiveCall

/// A sound check on a simulated card, in real time.
@Suite(.serialized, .realTime) struct SoundCheckSessionTests {
    private static let rate = 48_000.0

    /// A card with a loudspeaker that is recorded, and a microphone that hears a voice if there is one.
    private struct Rig {
        let calls: CallDeviceSession
        let sink: AudioRing
        let voice: [Float]

        init(hasVoice: Bool = true) throws {
            sink = AudioRing(channelCount: 2, capacity: Int(20 * rate))
            var random = SeededRandom(seed: 7)
            voice = (0..<Int(10 * rate)).map { _ in Float(0.4 * random.unit() - 0.2) }
            let source = AudioRing(channelCount: 1, capacity: voice.count)
            let buffer = AudioBuffer(channelCount: 1, frameCapacity: voice.count)
            for i in voice.indices { buffer.channels[0][i] = voice[i] }
            source.writer.write(buffer.channels, frameCount: voice.count)
            let card = SimulatedCard.Configuration(
                sampleRate: rate, blockFrameCount: 256, inputChannelCount: 1, outputChannelCount: 2,
                source: hasVoice ? source : nil, sink: sink)
            calls = try CallDeviceSession(AudioSession(SimulatedSystem.standard(card)))
        }

        /// The frames that the left loudspeaker has played.
        func heard() -> [Float] {
            let buffer = AudioBuffer(channelCount: 2, frameCapacity: sink.capacity)
            let count = sink.reader.read(buffer.channels, frameCount: sink.capacity).frameCount
            return Array(UnsafeBufferPointer(start: buffer.channels[0], count: count))
        }
    }

    /// Updates a check until a decision is awaited. Returns the notices.
    private func run(_ check: SoundCheckSession) throws -> [SoundCheck.Notice] {
        var notices = try check.begin(at: .now())
        for _ in 0..<3_000 where check.step != .decision {
            usleep(10_000)
            notices += check.update(at: .now())
        }
        return notices
    }

    /// Returns the position of a part in a sound; nil if it is not there.
    private func position(of part: ArraySlice<Float>, in sound: [Float]) -> Int? {
        guard let first = part.first, sound.count >= part.count else { return nil }
        return (0...sound.count - part.count).first { at in
            abs(sound[at] - first) < 1e-3 && zip(sound[at...], part).allSatisfy { abs($0 - $1) < 1e-3 }
        }
    }

    @Test func `ticks are heard, and then the voice from the microphone`() throws {
        let rig = try Rig()
        defer { rig.calls.close() }
        let check = try SoundCheckSession(on: rig.calls)
        let notices = try run(check)
        #expect(check.step == .decision && check.finding?.isFine == true, "\(notices)")
        #expect(check.inputPeak > 0.1)
        check.close()
        let heard = rig.heard()
        let first = try #require(heard.firstIndex { $0 != 0 })
        let last = try #require(heard.lastIndex { $0 != 0 })
        let tick = heard[first..<min(heard.count, first + 2_880)].map(abs).max() ?? 0
        #expect(tick > 0.15 && tick < 0.3, "\(tick)")
        try #require(last - first > 96_000, "\(first) \(last)")
        // A second before its end the played recording is not faded.
        #expect(position(of: heard[last - 48_000..<last - 46_000], in: rig.voice) != nil)
    }

    @Test func `a microphone without sound is digitally silent, and only the ticks are heard`() throws {
        let rig = try Rig(hasVoice: false)
        defer { rig.calls.close() }
        let check = try SoundCheckSession(on: rig.calls)
        let notices = try run(check)
        #expect(check.finding == .digitalSilence && !notices.contains(.playback), "\(notices)")
        check.close()
        let heard = rig.heard()
        #expect(heard.contains { $0 != 0 } && heard.count { $0 != 0 } <= 2 * 2_880)
    }

    @Test func `after a check the device can be started for a call`() throws {
        let rig = try Rig()
        defer { rig.calls.close() }
        for _ in 0..<2 {
            let check = try SoundCheckSession(on: rig.calls)
            _ = try check.begin(at: .now())
            #expect(throws: (any Error).self) { try SoundCheckSession(on: rig.calls).begin(at: .now()) }
            #expect(check.perform(.accept, at: .now()).isEmpty && check.step == .ended(.skipped))
            check.close()
        }
        #expect(rig.calls.description.route.input != nil)
    }
}
