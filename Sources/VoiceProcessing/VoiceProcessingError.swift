// SPDX-License-Identifier: Apache-2.0

import CEarshotVoiceProcessing

/// The reason that voice processing cannot start or has ended.
public enum VoiceProcessingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sample rate, in hertz, is not supported.
    case unsupportedRate(hertz: Double)
    /// The library rejected its settings; `code` is the library's own (−100: it threw an exception).
    case refused(code: Int)
    /// The library failed during processing; `code` is the library's own (−100: it threw an exception).
    case failed(code: Int)
    /// The thread could not be created; `code` is an errno.
    case noThread(code: Int)
    /// Voice processing was ended because of a fault in its output.
    case left(VoiceProcessingFinding)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .unsupportedRate(let hertz):
            "no voice processing at \(hertz.isFinite ? "\(Int(hertz))" : "\(hertz)") Hz"
        case .refused(let code): "webrtc-audio-processing refused its settings (\(code))"
        case .failed(let code): "webrtc-audio-processing failed (\(code)); the sound continues unprocessed"
        case .noThread(let code): "the system cannot create a thread for voice processing (error \(code))"
        case .left(let finding): "voice processing was turned off \(finding); the sound continues unprocessed"
        }
    }
}

/// A fault in the output of voice processing.
public enum VoiceProcessingFinding: Hashable, Sendable, CustomStringConvertible {
    /// The output was almost silent during speech; the seconds of speech, and the decibels by which the speech was reduced.
    case empty(seconds: Double, decibels: Double)
    /// The output's level hardly follows that of the speech; the correlation of both levels, −1 to 1.
    case noise(seconds: Double, correlation: Double)
    /// The output was much louder than the loudest recent input; the decibels between them.
    case loud(seconds: Double, decibels: Double)
    /// The output repeated the same frame of 10 ms; the seconds for which it did.
    case stuck(seconds: Double)
    /// The output contained samples that were NaN or infinite.
    case notFinite
    /// The output came too late; the seconds that were judged, and the share of late frames, 0 to 1.
    case late(seconds: Double, share: Double)

    /// One sentence that says what was found.
    public var description: String {
        func tenths(_ x: Double) -> String { "\((x * 10).rounded() / 10)" }
        return switch self {
        case .empty(let seconds, let decibels):
            "because it gave near silence for \(tenths(seconds)) s of speech (\(tenths(decibels)) dB less)"
        case .noise(let seconds, let correlation):
            "because it gave noise for \(tenths(seconds)) s of speech (correlation \(tenths(correlation)))"
        case .loud(let seconds, let decibels):
            "because it gave sound \(tenths(decibels)) dB louder than the microphone's for \(tenths(seconds)) s"
        case .stuck(let seconds): "because it repeated itself for \(tenths(seconds)) s"
        case .notFinite: "because it returned samples that are not numbers"
        case .late(let seconds, let share):
            "because \(tenths(share * 100)) % of \(tenths(seconds)) s came too late"
        }
    }
}
