// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The sound of a member: a tone of 200 Hz plus 40 Hz for each member, so that tones can be separated.
struct MemberTone {
    /// The amplitude relative to full scale.
    static let amplitude: Float = 0.1
    /// The samples of a whole number of periods.
    private let samples: [Float]

    init(_ member: Int, sampleRate: Double) {
        samples = (0..<Int(sampleRate / 40)).map {
            Self.amplitude * Float(sin(2 * Double.pi * Self.frequency(of: member) * Double($0) / sampleRate))
        }
    }

    /// Returns the frequency in hertz.
    static func frequency(of member: Int) -> Double { 200 + 40 * Double(member) }

    func fill(_ block: UnsafeMutablePointer<Float>, from first: Int, count: Int) {
        var place = first % samples.count
        for i in 0..<count {
            block[i] = samples[place]
            place = place + 1 == samples.count ? 0 : place + 1
        }
    }
}

/// Measures the level of each member's tone in the heard sound, over the last 50 ms of each half second (Goertzel 1958).
struct ToneMeter {
    private let sampleRate: Double
    /// The amplitudes in the last window, and in the previous one.
    private(set) var amplitudes: [Float]
    private var earlier: [Float]
    private var heard: [Float] = []
    private var frame = 0

    init(toneCount: Int, sampleRate: Double) {
        amplitudes = Array(repeating: 0, count: toneCount)
        earlier = amplitudes
        self.sampleRate = sampleRate
    }

    mutating func listen(_ block: UnsafeBufferPointer<Float>) {
        let interval = Int(sampleRate / 2)
        for sample in block {
            if frame >= interval - interval / 10 { heard.append(sample) }
            frame += 1
            guard frame == interval else { continue }
            earlier = amplitudes
            for tone in amplitudes.indices { amplitudes[tone] = amplitude(of: tone) }
            heard.removeAll(keepingCapacity: true)
            frame = 0
        }
    }

    /// Returns true if the tone is heard in one of two windows: a concealed packet or a removed period is not silence.
    func hears(_ tone: Int) -> Bool {
        [earlier[tone], amplitudes[tone]].contains { (0.6...1.4).contains($0 / MemberTone.amplitude) }
    }

    /// Returns true if the tone is missing in one of two windows.
    func isSilent(_ tone: Int) -> Bool {
        [earlier[tone], amplitudes[tone]].contains { $0 < 0.3 * MemberTone.amplitude }
    }

    private func amplitude(of tone: Int) -> Float {
        let step = 2 * Double.pi * MemberTone.frequency(of: tone) / sampleRate
        let factor = Float(2 * cos(step))
        var (last, beforeLast): (Float, Float) = (0, 0)
        for sample in heard { (last, beforeLast) = (sample + factor * last - beforeLast, last) }
        let power = last * last + beforeLast * beforeLast - factor * last * beforeLast
        return 2 * max(0, power).squareRoot() / Float(heard.count)
    }
}
