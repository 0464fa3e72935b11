// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import Testing

@testable import EarshotCall

/// An accompaniment with a microphone that has its own clock and its own frame counter.
@Suite struct AccompanimentMicrophoneTests {
    /// The sound that was sent with its song, and the song at the times at which the microphone captured the blocks.
    private static func sent(drift: Double, seconds: Double) -> (sent: [Float], times: [Double], delay: Double) {
        let processor = CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup())
        let song = CallAccompaniment(channelCount: 1, sampleRate: 48_000, hasSeparateMicrophone: true)
        processor.songInserts.playback.set(song.playbackInsert)
        processor.songInserts.capture.set(song.captureInsert)
        (song.isPlaying, song.isForAll) = (true, true)
        let (input, output) = (
            AudioBuffer(channelCount: 1, frameCapacity: 4_096), AudioBuffer(channelCount: 1, frameCapacity: 64)
        )
        let playedRate = 48_000 * (1 + drift * 1e-6)
        var (played, captured) = (0, 0)
        var (sent, times): ([Float], [Double]) = ([], [])
        func time(_ seconds: Double) -> HostTime { HostTime(nanoseconds: 0).advanced(bySeconds: 5 + seconds) }
        while Double(captured) / 48_000 < seconds {
            let (playTime, captureTime) = (Double(played) / playedRate, Double(captured) / 48_000)
            if playTime <= captureTime {
                while song.room > song.capacity - 24_000 {
                    let first = song.writtenCount
                    for i in 0..<4_096 {
                        input.channels[0][i] = sine(first + i, frequency: 20, rate: 48_000, amplitude: 0.2)
                    }
                    song.write(input.channels, frameCount: 4_096)
                }
                clearSamples(output.channels[0], 64)
                var cycle = IOCycle(
                    frameCount: 64, sampleTime: 7_000 + Int64(played), hostTime: time(playTime), inputLatency: 0,
                    outputLatency: 0.01, input: Channels(input.channels.pointers, count: 0), output: output.channels)
                processor.playbackCallback(&cycle)
                played += 64
            } else {
                clearSamples(input.channels[0], 64)
                var cycle = IOCycle(
                    frameCount: 64, sampleTime: 1_000_000 + Int64(captured), hostTime: time(captureTime),
                    inputLatency: 0.005, outputLatency: 0, input: input.channels,
                    output: Channels(output.channels.pointers, count: 0))
                processor.captureCallback(&cycle)
                let count = processor.captured.reader.read(input.channels, frameCount: 64).frameCount
                sent += UnsafeBufferPointer(start: input.channels[0], count: count)
                times.append(captureTime)
                captured += 64
            }
        }
        return (sent, times, 0.015)
    }

    @Test(arguments: [0.0, 200, -200])
    func `the sent song stays within 4 ms of the voice, without a click, although the clocks drift`(drift: Double)
        throws
    {
        let (sent, times, delay) = Self.sent(drift: drift, seconds: 40)
        #expect(AccompanimentRig.click(sent) < -60, "\(AccompanimentRig.click(sent)) dBFS")
        // The tone's phase gives the position of the song that was sent last. Its period of 50 ms is longer than the 8 ms by
        // which the clocks drift apart.
        let end = sent.count - 4_800
        let (phase, rate) = (Self.phase(Array(sent[end...])), 48_000 * (1 + drift * 1e-6))
        let expected = (times[end / 64] - delay) * rate / 2_400
        let error = (phase - expected).remainder(dividingBy: 1) * 50  // ms
        #expect(abs(error) < 4, "\(error) ms")
    }

    /// Returns the phase of a tone of 20 Hz in periods, at the first sample.
    private static func phase(_ samples: [Float]) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for (n, sample) in samples.enumerated() {
            let angle = 2 * Double.pi * 20 * Double(n) / 48_000
            real += Double(sample) * cos(angle)
            imaginary += Double(sample) * sin(angle)
        }
        // A sine of phase p has the components sin p and cos p.
        return atan2(real, imaginary) / (2 * Double.pi)
    }
}
