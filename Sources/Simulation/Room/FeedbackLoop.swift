// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotSpectrum
import Foundation

/// A microphone in the room of a loudspeaker that plays its sound, delayed by a network: two laptops of a call in one room.
/// The call's processor of the microphone is the product's.
struct FeedbackLoop {
    static let rate = SameRoomVoices.rate
    /// The sound that the microphone captures besides.
    enum Sound: String, CaseIterable { case silence, talk, singing }

    /// The greatest gain around the loop at any frequency, in decibels: feedback grows above 0.
    var gain: Double
    /// The seconds from the microphone to the loudspeaker.
    var delay: Double
    var sound = Sound.talk
    var seconds = 10.0
    /// False for a network that carries the microphone's sound as it is.
    var isDamped = true

    struct Result {
        /// The loudspeaker's sound.
        var played: [Float]
        /// The tones that were damped.
        var dampedCount: Int
    }

    func run(seed: UInt64, _ sentences: [[Float]]) -> Result {
        var random = SeededRandom(seed: seed &* 0x9E37_79B9 &+ 29)
        let frames = Int(seconds * Self.rate)
        let response = makeResponse(&random)
        let own = makeSound(&random, frames, sentences)
        let block = Int(Self.rate / 100)
        let processor = CallProcessor(channelCount: 1, deviceRate: Self.rate, wakeup: Wakeup())
        let (input, output) = (
            AudioBuffer(channelCount: 1, frameCapacity: block), AudioBuffer(channelCount: 1, frameCapacity: block)
        )
        var line = [Float](repeating: 0, count: Int(delay * Self.rate))
        // The loudspeaker's sound, preceded by silence as long as the room's response.
        var played = [Float](repeating: 0, count: response.count - 1)
        for first in stride(from: 0, through: frames - block, by: block) {
            played += line.prefix(block).map { max(-1, min(1, $0)) }
            line.removeFirst(block)
            for i in 0..<block {
                let echo = Self.sample(of: response, played, at: first + i)
                input.channels[0][i] = max(-1, min(1, own[first + i] + echo))
                output.channels[0][i] = 0
            }
            var cycle = IOCycle(
                frameCount: block, sampleTime: Int64(first), hostTime: HostTime(nanoseconds: Int64(first) * 125_000),
                inputLatency: 0, outputLatency: 0, input: input.channels, output: output.channels)
            if isDamped {
                processor.callback(&cycle)
                _ = processor.captured.reader.read(output.channels, frameCount: block)
            } else {
                copySamples(output.channels[0], input.channels[0], block)
            }
            line += UnsafeBufferPointer(start: output.channels[0], count: block)
        }
        return Result(
            played: Array(played.dropFirst(response.count - 1)), dampedCount: processor.levels.feedback.count)
    }

    /// Returns the seconds in which a sound howls: a tone has over four fifths of the power of a loud tenth of a second.
    static func howlingSeconds(_ sound: [Float]) -> Double {
        let count = RealFFT.fastCount(atLeast: Int(rate / 10))
        let fft = RealFFT(count: count)
        var seconds = 0.0
        for first in stride(from: 0, through: sound.count - count, by: count) {
            let window = sound[first..<first + count]
            let power = window.reduce(0) { $0 + $1 * $1 } / Float(count)
            guard power > 0.01 else { continue }  // -20 dBFS
            let shaped = window.enumerated().map { index, sample in
                sample * Float(0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(count)))
            }
            let powers = fft.powers(of: shaped)
            let peak = powers.indices.max { powers[$0] < powers[$1] } ?? 0
            let tone = powers[max(0, peak - 3)...min(powers.count - 1, peak + 3)].reduce(0, +)
            if tone > 0.8 * powers.reduce(0, +) { seconds += Double(count) / rate }
        }
        return seconds
    }

    private func makeSound(_ random: inout SeededRandom, _ count: Int, _ sentences: [[Float]]) -> [Float] {
        let noise = SameRoomVoices.noise(&random, count: count, gain: 0.000_5)
        switch sound {
        case .silence: return noise
        case .talk: return zip(SameRoomVoices.talk(&random, count: count, sentences), noise).map(+)
        case .singing: return zip(SameRoomVoices.sing(&random, count: count), noise).map(+)
        }
    }

    /// Returns the response of a small loudspeaker in a room at a microphone, with the loop's greatest gain.
    private func makeResponse(_ random: inout SeededRandom) -> [Float] {
        typealias Point = SimulatedRoom.Point
        let room = SimulatedRoom(
            size: Point(4 + 2 * random.unit(), 3.2 + random.unit(), 2.5), reverberationTime: 0.3 + 0.3 * random.unit())
        let microphone = Point(1 + random.unit(), 1 + random.unit(), 0.8)
        let speaker = Point(microphone.x + 0.7 + random.unit(), microphone.y + 0.3, 0.75)
        var response = room.impulseResponse(from: speaker, to: microphone, sampleRate: Self.rate, duration: 0.25)
        // A small loudspeaker plays little below 300 Hz, and a voice little at the end of the band.
        let decay = Float(exp(-2 * .pi * 300 / Self.rate))
        var (low, last): (Float, Float) = (0, 0)
        for i in response.indices {
            low = decay * low + (1 - decay) * response[i]
            let high = response[i] - low
            (response[i], last) = ((high + last) / 2, high)
        }
        let fft = RealFFT(count: RealFFT.fastCount(atLeast: 4 * response.count))
        let powers = fft.powers(of: response + [Float](repeating: 0, count: fft.count - response.count))
        let greatest = powers.max() ?? 1
        let factor = Float(pow(10, gain / 20)) / greatest.squareRoot()
        return response.map { $0 * factor }
    }

    private static func sample(of response: [Float], _ played: [Float], at frame: Int) -> Float {
        played.withUnsafeBufferPointer { sound in
            response.withUnsafeBufferPointer { response in
                var sum: Float = 0
                let end = min(frame + response.count, sound.count)
                for i in frame..<end { sum += sound[i] * response[frame + response.count - 1 - i] }
                return sum
            }
        }
    }
}
