// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Checks that the output of voice processing is the voice in its input. Recommends to turn voice processing off if the output is
/// empty, noise, far too loud, stuck, not finite or late.
///
/// The monitor compares only speech of the near talker: frames of the microphone that exceed its noise while the far end has been
/// silent for 0.4 s. Voice processing may remove echo, and should remove noise. The monitor has no clock and no thread.
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
    private var floor = -60.0  // the microphone's noise floor, dB
    private var lowestLevel = 0.0  // the lowest level of the present 2 s, dB
    private var sinceLowest = 0  // frames of the present 2 s so far
    private var farSilence = 1000  // frames since the far end was last heard
    private var pairs = Correlation()
    private var loudestLevel = -90.0  // the microphone's highest level, falling slowly, dB
    private var tooLoudCount = 0  // too loud frames of the output, minus the others
    private var lastHash: UInt64 = 0  // the hash of the last output frame
    private var repeatedCount = 0  // successive output frames that were equal to the frame before
    private var lateFrames = 0
    private var judgedFrames = 0
    private var recent = (-120.0, -120.0)  // the microphone's levels one and two frames ago

    /// - Parameter options: the options of the processing, whose intended gain is not a fault.
    package init(options: VoiceProcessingOptions = VoiceProcessingOptions(), limits: Limits = Limits()) {
        self.limits = limits
        raised = limits.raised + Double(options.gainControl?.gain ?? 0)
    }

    /// Adds 10 ms of the microphone, the loudspeaker's sound and the output. Returns the reason to turn voice processing off, if
    /// there is one.
    package mutating func observe(
        microphone: UnsafePointer<Float>, reference: UnsafePointer<Float>, cleaned: UnsafePointer<Float>,
        frameCount: Int
    ) -> VoiceProcessingFinding? {
        let microphoneLevel = decibels(meanSquare(microphone, frameCount))
        let power = meanSquare(cleaned, frameCount)
        guard power.isFinite else { return .notFinite }
        let cleanedLevel = decibels(power)
        farSilence = decibels(meanSquare(reference, frameCount)) > -60 ? 0 : farSilence + 1
        followFloor(microphoneLevel)
        loudestLevel = max(microphoneLevel, loudestLevel - 0.005)  // falls by half a decibel a second
        if let finding = judgeRepetition(cleaned, frameCount, level: cleanedLevel) { return finding }
        if let finding = judgeLoudness(cleanedLevel) { return finding }
        // The output is one or two frames late, so its level is compared with the microphone's previous frame.
        let spoken = recent.0
        recent = (microphoneLevel, recent.0)
        guard farSilence > 40, max(microphoneLevel, spoken) > max(floor + 12, -55) else { return nil }
        pairs.add(spoken, cleanedLevel)
        guard Double(pairs.count) >= limits.speech * 100 else { return nil }
        defer { pairs = Correlation() }
        let lowered = pairs.meanX - pairs.meanY
        if lowered > limits.lowered { return .empty(seconds: limits.speech, decibels: lowered) }
        // A constant level has no correlation.
        guard pairs.deviationX > 3 else { return nil }
        let r = pairs.coefficient
        return r < limits.correlation ? .noise(seconds: limits.speech, correlation: r) : nil
    }

    /// Adds the number of frames that a render callback requested, and the number of those that were late. Returns the reason to
    /// turn voice processing off, if there is one.
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
        lowestLevel = min(lowestLevel, max(level, -90))
        sinceLowest += 1
        if lowestLevel < floor { floor = lowestLevel }
        if sinceLowest >= 200 { (floor, lowestLevel, sinceLowest) = (lowestLevel, 0, 0) }
    }

    private mutating func judgeRepetition(_ samples: UnsafePointer<Float>, _ count: Int, level: Double)
        -> VoiceProcessingFinding?
    {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a, by samples
        for i in 0..<count { hash = (hash ^ UInt64(samples[i].bitPattern)) &* 0x100_0000_01b3 }
        repeatedCount = hash == lastHash && level > -90 ? repeatedCount + 1 : 0
        lastHash = hash
        return Double(repeatedCount) >= limits.time * 100 ? .stuck(seconds: limits.time) : nil
    }

    private mutating func judgeLoudness(_ level: Double) -> VoiceProcessingFinding? {
        tooLoudCount = level > max(loudestLevel, -60) + raised ? tooLoudCount + 1 : max(0, tooLoudCount - 1)
        guard tooLoudCount >= 100 else { return nil }
        return .loud(seconds: 1, decibels: level - loudestLevel)
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
