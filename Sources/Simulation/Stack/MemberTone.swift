// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The sound of a member: a tone of 200 Hz plus 40 Hz times the member's index, so that tones can be separated.
struct MemberTone {
    /// The amplitude relative to full scale.
    static let amplitude: Float = 0.1
    /// The samples of 25 ms, in which each tone has a whole number of periods.
    private let samples: [Float]

    init(_ member: Int, sampleRate: Double) {
        samples = (0..<Int(sampleRate / 40)).map {
            Self.amplitude * Float(sin(2 * Double.pi * Self.frequency(of: member) * Double($0) / sampleRate))
        }
    }

    /// Returns the frequency of a member's tone in hertz.
    static func frequency(of member: Int) -> Double { 200 + 40 * Double(member) }

    func fill(_ block: UnsafeMutablePointer<Float>, from first: Int, count: Int) {
        var position = first % samples.count
        for i in 0..<count {
            block[i] = samples[position]
            position = position + 1 == samples.count ? 0 : position + 1
        }
    }
}

/// Measures the level of each member's tone in the heard sound, over the last 50 ms of each half second (Goertzel 1958).
struct ToneMeter {
    private let sampleRate: Double
    /// The amplitude of each tone in the last window, and then in the window before it.
    private(set) var amplitudes: [Float]
    private var previousAmplitudes: [Float]
    private var windowSamples: [Float] = []
    private var frameInInterval = 0

    init(toneCount: Int, sampleRate: Double) {
        amplitudes = Array(repeating: 0, count: toneCount)
        previousAmplitudes = amplitudes
        self.sampleRate = sampleRate
    }

    mutating func listen(_ block: UnsafeBufferPointer<Float>) {
        let interval = Int(sampleRate / 2)
        for sample in block {
            if frameInInterval >= interval - interval / 10 { windowSamples.append(sample) }
            frameInInterval += 1
            guard frameInInterval == interval else { continue }
            previousAmplitudes = amplitudes
            for tone in amplitudes.indices { amplitudes[tone] = amplitude(of: tone) }
            windowSamples.removeAll(keepingCapacity: true)
            frameInInterval = 0
        }
    }

    /// Returns true if a tone is heard in at least one of the last two windows. A concealed packet or a removed period may
    /// disturb one.
    func hears(_ tone: Int) -> Bool {
        [previousAmplitudes[tone], amplitudes[tone]].contains { (0.6...1.4).contains($0 / MemberTone.amplitude) }
    }

    /// Returns true if a tone is missing in at least one of the last two windows.
    func isSilent(_ tone: Int) -> Bool {
        [previousAmplitudes[tone], amplitudes[tone]].contains { $0 < 0.3 * MemberTone.amplitude }
    }

    private func amplitude(of tone: Int) -> Float {
        let step = 2 * Double.pi * MemberTone.frequency(of: tone) / sampleRate
        let factor = Float(2 * cos(step))
        var (last, beforeLast): (Float, Float) = (0, 0)
        for sample in windowSamples { (last, beforeLast) = (sample + factor * last - beforeLast, last) }
        let power = last * last + beforeLast * beforeLast - factor * last * beforeLast
        return 2 * max(0, power).squareRoot() / Float(windowSamples.count)
    }
}
