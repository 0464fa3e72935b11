// SPDX-License-Identifier: Apache-2.0

import CEarshotVoiceProcessing

/// The reason that voice processing is impossible or has ended.
public enum VoiceProcessingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rate, in hertz, is none that this can be done at.
    case unsupportedRate(hertz: Double)
    /// The library refused its settings; `code` is its own (-100: it threw an exception).
    case refused(code: Int)
    /// The library failed while it processed.
    case failed(code: Int)
    /// The thread could not be made; `code` is an errno.
    case noThread(code: Int)
    /// The output was no voice.
    case left(VoiceProcessingFinding)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .unsupportedRate(let hertz):
            "no voice processing at \(hertz.isFinite ? "\(Int(hertz))" : "\(hertz)") Hz"
        case .refused(let code): "webrtc-audio-processing refused its settings (\(code))"
        case .failed(let code): "webrtc-audio-processing failed (\(code)), and plain sound goes on"
        case .noThread(let code): "the system has no thread for voice processing (error \(code))"
        case .left(let finding): "voice processing was left, \(finding), and plain sound goes on"
        }
    }
}

/// A fault in the output of voice processing.
public enum VoiceProcessingFinding: Hashable, Sendable, CustomStringConvertible {
    /// Speech went in, near silence came out; seconds of speech and by how many decibels it was lowered.
    case empty(seconds: Double, decibels: Double)
    /// The output follows the input's speech too little; the correlation of both levels, -1 to 1.
    case noise(seconds: Double, correlation: Double)
    /// It made sound far louder than any that went in, in decibels.
    case loud(seconds: Double, decibels: Double)
    /// The same frame came over and over.
    case stuck(seconds: Double)
    /// Samples that are no numbers.
    case notFinite
    /// It came too late; which share of frames, 0 to 1.
    case late(seconds: Double, share: Double)

    /// The finding as a sentence.
    public var description: String {
        func tenths(_ x: Double) -> String { "\((x * 10).rounded() / 10)" }
        return switch self {
        case .empty(let seconds, let decibels):
            "since it gave near silence for \(tenths(seconds)) s of speech (\(tenths(decibels)) dB less)"
        case .noise(let seconds, let correlation):
            "since it gave noise for \(tenths(seconds)) s of speech (correlation \(tenths(correlation)))"
        case .loud(let seconds, let decibels):
            "since it gave sound \(tenths(decibels)) dB louder than the microphone's for \(tenths(seconds)) s"
        case .stuck(let seconds): "since it repeated itself for \(tenths(seconds)) s"
        case .notFinite: "since it gave samples that are no numbers"
        case .late(let seconds, let share):
            "since \(tenths(share * 100)) % of \(tenths(seconds)) s came too late"
        }
    }
}
