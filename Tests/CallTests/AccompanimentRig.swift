// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EngineMeasures

@testable import EarshotCall

/// The render callbacks of a call with an accompaniment, on virtual time. The microphone hears the loudspeaker, as a singer does
/// who sings exactly what is heard.
final class AccompanimentRig {
    static let rate = 48_000.0

    let processor: CallProcessor
    let song: CallAccompaniment
    let blockLength: Int
    /// Frames.
    let (inputLatency, outputLatency): (Int, Int)
    /// The share of the loudspeaker's sound in the microphone. It needs latencies of a block or more.
    var echo: Float = 0
    /// Further frames that the voice path takes.
    var voiceDelay = 0
    /// The sound of the microphone besides the loudspeaker.
    var says: (_ frame: Int) -> Float = { _ in 0 }
    /// The frames of the song, by the number of written ones.
    var sings: (_ frame: Int) -> Float = { _ in 0 }
    /// True if frames of the song are written before each block.
    var isFed = true
    private(set) var sampleTime = 0
    /// The loudspeaker's sound by the frame counter, without sound in gaps.
    private(set) var played: [Float] = []
    private(set) var captured: [Float] = []
    private(set) var sent: [Float] = []
    private let (input, output): (AudioBuffer, AudioBuffer)

    init(blockLength: Int = 64, inputLatency: Int = 1_024, outputLatency: Int = 1_024) {
        processor = CallProcessor(channelCount: 1, deviceRate: Self.rate, wakeup: Wakeup())
        song = CallAccompaniment(channelCount: 1, sampleRate: Self.rate)
        self.blockLength = blockLength
        (self.inputLatency, self.outputLatency) = (inputLatency, outputLatency)
        (input, output) = (
            AudioBuffer(channelCount: 1, frameCapacity: max(8_192, blockLength)),
            AudioBuffer(channelCount: 1, frameCapacity: max(8_192, blockLength))
        )
        processor.songInserts.playback.set(song.playbackInsert)
        processor.songInserts.capture.set(song.captureInsert)
    }

    /// Writes frames of the song until half a second is stored.
    func feed() {
        while song.room > song.capacity - 24_000 { write(min(4_096, song.room)) }
    }

    func write(_ count: Int) {
        let first = song.writtenCount
        for i in 0..<count { input.channels[0][i] = sings(first + i) }
        song.write(input.channels, frameCount: count)
    }

    /// Runs the device for some frames, in whole blocks. `each` is called before each block.
    func run(_ frameCount: Int, each: () -> Void = {}) {
        let end = sampleTime + frameCount
        while sampleTime < end {
            each()
            if isFed { feed() }
            turn()
        }
    }

    /// Skips frames of the device.
    func skip(_ frameCount: Int) {
        sampleTime += frameCount
        played += [Float](repeating: 0, count: frameCount)
        captured += [Float](repeating: 0, count: frameCount)
        sent += [Float](repeating: 0, count: frameCount)
    }

    private func turn() {
        for i in 0..<blockLength {
            let heard = sampleTime + i - inputLatency - outputLatency - voiceDelay
            input.channels[0][i] = says(sampleTime + i) + (heard >= 0 && echo != 0 ? echo * played[heard] : 0)
            output.channels[0][i] = 0
        }
        captured += UnsafeBufferPointer(start: input.channels[0], count: blockLength)
        var cycle = IOCycle(
            frameCount: blockLength, sampleTime: Int64(sampleTime),
            hostTime: HostTime(nanoseconds: 0).advanced(bySeconds: 5 + Double(sampleTime) / Self.rate),
            inputLatency: Double(inputLatency) / Self.rate, outputLatency: Double(outputLatency) / Self.rate,
            input: input.channels, output: output.channels)
        processor.callback(&cycle)
        played += UnsafeBufferPointer(start: output.channels[0], count: blockLength)
        let count = processor.captured.reader.read(input.channels, frameCount: blockLength).frameCount
        sent += UnsafeBufferPointer(start: input.channels[0], count: count)
        sampleTime += blockLength
    }

    /// Returns the peak of a click in dBFS.
    static func click(_ samples: [Float]) -> Double {
        var meter = ClickMeter(rate: rate)
        for sample in samples { meter.add(sample) }
        return meter.level
    }
}
