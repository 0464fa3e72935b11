// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioFiles
import EarshotVoiceProcessing
import TestSupport

/// The sound of a room with a loudspeaker: real speech, an echo by a response of decaying noise, a near talker.
struct Scene {
    let rate: Int
    var microphone: [Float]
    var reference: [Float]

    /// - Parameters:
    ///   - coupling: the power of the echo relative to the played sound, in decibels.
    ///   - decay: the room's RT60 in seconds.
    ///   - delay: the delay of card and air in milliseconds.
    init(
        rate: Int, far: [Float], near: [Float] = [], coupling: Double = -6, decay: Double = 0.2, delay: Double = 20,
        noise: Double = -70
    ) {
        self.rate = rate
        let count = max(far.count, near.count)
        var random = SeededRandom(seed: 7)
        let level = Float(pow10(noise / 20)) * 1.7320508
        microphone = (0..<count).map { _ in level * Float(random.unit() * 2 - 1) }
        reference = far + [Float](repeating: 0, count: count - far.count)
        if !far.isEmpty {
            let echo = Self.echo(of: reference, rate: rate, decay: decay)
            let gain = Float(pow10(coupling / 20) * (power(reference) / power(echo)).squareRoot())
            let shift = Int(delay * Double(rate) / 1000)
            for i in shift..<count { microphone[i] += echo[i - shift] * gain }
        }
        for i in near.indices { microphone[i] += near[i] }
    }

    private static func echo(of x: [Float], rate: Int, decay: Double) -> [Float] {
        var random = SeededRandom(seed: 3)
        let taps = Int(decay * Double(rate))
        var response: [Float] = (0..<taps).map { i in
            let fall = pow10(-3 * Double(i) / Double(taps))
            return Float((random.unit() * 2 - 1) * fall)
        }
        response[0] = 4
        var y = [Float](repeating: 0, count: x.count)
        x.withUnsafeBufferPointer { x in
            y.withUnsafeMutableBufferPointer { y in
                for (k, h) in response.enumerated() { for i in k..<y.count { y[i] += h * x[i - k] } }
            }
        }
        return y
    }

    /// Returns a processor's output without its delay.
    func cleaned(_ processor: VoiceProcessor) throws -> [Float] {
        let n = processor.frameCount
        var output: [Float] = []
        var frame = [Float](repeating: 0, count: n)
        for start in stride(from: 0, through: microphone.count - n, by: n) {
            try microphone.withUnsafeBufferPointer { m in
                try reference.withUnsafeBufferPointer { r in
                    try processor.process(
                        microphone: m.baseAddress! + start, reference: r.baseAddress! + start, into: &frame)
                }
            }
            output += frame
        }
        return Array(output[processor.delay...])
    }
}

func pow10(_ x: Double) -> Double { earshot_exp(x * 2.302585092994046) }

/// The mean square.
func power(_ x: some Sequence<Float>) -> Double {
    var sum = 0.0
    var count = 0
    for v in x {
        sum += Double(v) * Double(v)
        count += 1
    }
    return sum / Double(max(1, count))
}

/// Recorded speech at any sample rate, scaled to a peak of 0.5.
enum Speech {
    static let names = ["Front_Center", "Front_Left", "Rear_Right", "Side_Left", "Rear_Center", "Side_Right"]

    static func read(_ path: String, rate: Int) throws -> [Float] {
        let reader = try ConvertedFileReader(
            AudioFileReader(path: path), as: AudioFormat(sampleRate: Double(rate), channelCount: 1))
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: reader.frameCount)
        let count = try reader.read(into: buffer.channels, frameCount: reader.frameCount)
        let x = (0..<count).map { buffer.channels[0][$0] }
        let peak = x.reduce(Float(1e-9)) { max($0, abs($1)) }
        return x.map { $0 * 0.5 / peak }
    }

    /// Short words, one after the other.
    static func words(rate: Int) throws -> [Float] {
        try names.flatMap { try read("/usr/share/sounds/alsa/\($0).wav", rate: rate) }
    }

    static func talk(rate: Int) throws -> [Float] { try RecordedSpeech.sentences.flatMap { try read($0, rate: rate) } }
}

/// Returns the lag in samples at which `y` matches `x` best, and their similarity (1 if equal).
func lag(of y: [Float], behind x: [Float], upTo most: Int) -> (lag: Int, correlation: Double) {
    var best = (lag: 0, correlation: -1.0)
    let count = min(x.count, y.count) - most
    x.withUnsafeBufferPointer { x in
        y.withUnsafeBufferPointer { y in
            for lag in 0...most {
                var sum: Float = 0
                var yy: Float = 0
                for i in 0..<count {
                    sum += x[i] * y[i + lag]
                    yy += y[i + lag] * y[i + lag]
                }
                let r = Double(sum) / (power(x[..<count]) * Double(count) * Double(yy)).squareRoot()
                if r > best.correlation { best = (lag, r) }
            }
        }
    }
    return best
}
