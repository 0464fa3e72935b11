// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Checks that the output of voice processing is the voice in its input, and recommends to turn it off if it is empty, noise, far
/// too loud, stuck, not finite or late.
///
/// It compares only speech of the near talker: frames of the microphone that exceed its noise while the far end has been silent
/// for 0.4 s. Voice processing may remove echo, and should remove noise. Values only: no clock, no thread.
package struct VoiceProcessingMonitor: Sendable {
    /// The thresholds of findings. Times are in seconds.
    package struct Limits: Hashable, Sendable {
        /// The amount of speech for one judgement.
        package var speech = 3.0
        /// The maximum reduction of speech in decibels.
        package var lowered = 25.0
        /// The correlation of the levels in decibels below which the output is noise.
        package var correlation = 0.3
        /// The maximum decibels by which the output may exceed the loudest input.
        package var raised = 12.0
        /// The time over which lateness and repetition are judged.
        package var time = 5.0
        /// The maximum share of late frames.
        package var late = 0.2

        /// Creates the default limits.
        package init() {}
    }

    private let limits: Limits
    private let raised: Double
    private var floor = -60.0  // of the microphone, dB
    private var lowest = 0.0
    private var sinceLowest = 0
    private var farSilence = 1000  // frames
    private var pairs = Correlation()
    private var loudest = -90.0
    private var tooLoud = 0
    private var last: UInt64 = 0
    private var repeated = 0
    private var lateFrames = 0
    private var judgedFrames = 0
    private var recent = (-120.0, -120.0)  // the microphone's levels one and two frames ago

    /// - Parameter options: the options of the processing, whose intended gain is not a fault.
    package init(options: VoiceProcessingOptions = VoiceProcessingOptions(), limits: Limits = Limits()) {
        self.limits = limits
        raised = limits.raised + Double(options.gainControl?.gain ?? 0)
    }

    /// Adds 10 ms. Returns the reason to turn voice processing off, if there is one.
    package mutating func observe(
        microphone: UnsafePointer<Float>, reference: UnsafePointer<Float>, cleaned: UnsafePointer<Float>,
        frameCount: Int
    ) -> VoiceProcessingFinding? {
        let m = decibels(meanSquare(microphone, frameCount))
        let power = meanSquare(cleaned, frameCount)
        guard power.isFinite else { return .notFinite }
        let c = decibels(power)
        farSilence = decibels(meanSquare(reference, frameCount)) > -60 ? 0 : farSilence + 1
        followFloor(m)
        loudest = max(m, loudest - 0.005)  // falls by half a decibel a second
        if let finding = judgeRepetition(cleaned, frameCount, level: c) { return finding }
        if let finding = judgeLoudness(c) { return finding }
        // The output is one or two frames late, so compare it with the previous frame.
        let spoken = recent.0
        recent = (m, recent.0)
        guard farSilence > 40, max(m, spoken) > max(floor + 12, -55) else { return nil }
        pairs.add(spoken, c)
        guard Double(pairs.count) >= limits.speech * 100 else { return nil }
        defer { pairs = Correlation() }
        let lowered = pairs.meanX - pairs.meanY
        if lowered > limits.lowered { return .empty(seconds: limits.speech, decibels: lowered) }
        // A constant level has no correlation.
        guard pairs.deviationX > 3 else { return nil }
        let r = pairs.coefficient
        return r < limits.correlation ? .noise(seconds: limits.speech, correlation: r) : nil
    }

    /// Adds the number of frames that a render callback requested, and how many of them were late.
    package mutating func observe(wanted: Int, late: Int, sampleRate: Double) -> VoiceProcessingFinding? {
        judgedFrames += wanted
        lateFrames += late
        guard Double(judgedFrames) >= limits.time * sampleRate else { return nil }
        defer { (judgedFrames, lateFrames) = (0, 0) }
        let share = Double(lateFrames) / Double(judgedFrames)
        return share > limits.late ? .late(seconds: limits.time, share: share) : nil
    }

    /// Updates the noise floor: the lowest level of the last two to four seconds.
    private mutating func followFloor(_ level: Double) {
        lowest = min(lowest, max(level, -90))
        sinceLowest += 1
        if lowest < floor { floor = lowest }
        if sinceLowest >= 200 { (floor, lowest, sinceLowest) = (lowest, 0, 0) }
    }

    private mutating func judgeRepetition(_ samples: UnsafePointer<Float>, _ count: Int, level: Double)
        -> VoiceProcessingFinding?
    {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a, by samples
        for i in 0..<count { hash = (hash ^ UInt64(samples[i].bitPattern)) &* 0x100_0000_01b3 }
        repeated = hash == last && level > -90 ? repeated + 1 : 0
        last = hash
        return Double(repeated) >= limits.time * 100 ? .stuck(seconds: limits.time) : nil
    }

    private mutating func judgeLoudness(_ level: Double) -> VoiceProcessingFinding? {
        tooLoud = level > max(loudest, -60) + raised ? tooLoud + 1 : max(0, tooLoud - 1)
        guard tooLoud >= 100 else { return nil }
        return .loud(seconds: 1, decibels: level - loudest)
    }

    private func decibels(_ power: Double) -> Double { 10 / earshot_log(10) * earshot_log(max(power, 1e-12)) }
}

/// The sums of pairs of levels, for their correlation.
struct Correlation: Sendable {
    private(set) var count = 0
    private var x = 0.0, y = 0.0, xx = 0.0, yy = 0.0, xy = 0.0

    mutating func add(_ a: Double, _ b: Double) {
        count += 1
        x += a
        y += b
        xx += a * a
        yy += b * b
        xy += a * b
    }

    var meanX: Double { x / Double(count) }
    var meanY: Double { y / Double(count) }
    var deviationX: Double { max(0, xx / Double(count) - meanX * meanX).squareRoot() }
    private var deviationY: Double { max(0, yy / Double(count) - meanY * meanY).squareRoot() }

    var coefficient: Double {
        let scale = deviationX * deviationY
        return scale > 1e-9 ? (xy / Double(count) - meanX * meanY) / scale : 0
    }
}
