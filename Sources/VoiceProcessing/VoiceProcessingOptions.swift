// SPDX-License-Identifier: Apache-2.0

import CEarshotVoiceProcessing

/// The options of voice processing for a microphone. The defaults suit a call with a loudspeaker and an open microphone.
public struct VoiceProcessingOptions: Hashable, Sendable {
    /// The strength with which residual echo is suppressed. During double talk a higher strength also reduces the near talker
    /// more. webrtc-audio-processing 1.x has only one strength.
    public enum EchoSuppression: Int, CaseIterable, Sendable {
        /// Preserves the near talker best.
        case low
        /// A strength between low and high.
        case moderate
        /// Suppresses echo best.
        case high
    }

    /// The suppression of steady noise.
    public enum NoiseSuppression: Int, CaseIterable, Sendable {
        /// About 6 dB.
        case low
        /// About 12 dB.
        case moderate
        /// About 17 dB.
        case high
        /// About 19 dB.
        case veryHigh
    }

    /// Automatic gain control of the talker.
    public struct GainControl: Hashable, Sendable {
        /// The mode of the gain.
        public enum Mode: Int, CaseIterable, Sendable {
            /// The gain adapts over seconds.
            case adaptive = 1
            /// The gain is fixed, and loud sound is compressed.
            case fixed = 2
        }

        /// The mode of the gain.
        public var mode: Mode
        /// The target peak in decibels of full scale, −31 to 0.
        public var target: Int
        /// The maximum gain in decibels, 0 to 90.
        public var gain: Int

        /// Creates a gain control; values outside their ranges are clamped.
        public init(mode: Mode = .adaptive, target: Int = -3, gain: Int = 9) {
            self.mode = mode
            self.target = max(-31, min(0, target))
            self.gain = max(0, min(90, gain))
        }
    }

    /// The strength of echo suppression; nil for no echo cancellation.
    public var echo: EchoSuppression?
    /// The strength of noise suppression; nil for none.
    public var noise: NoiseSuppression?
    /// The automatic gain control; nil for none.
    public var gainControl: GainControl?
    /// True to remove frequencies below the voice: rumble and direct current.
    public var highPass: Bool
    /// The longest echo to cancel, in milliseconds: its delay plus the room's decay. 50 to 500 in steps of 10.
    package var echoPath: Int

    /// Creates options; each has a default.
    public init(
        echo: EchoSuppression? = .low, noise: NoiseSuppression? = .moderate, gainControl: GainControl? = nil,
        highPass: Bool = true, echoPath: Int = 250
    ) {
        self.echo = echo
        self.noise = noise
        self.gainControl = gainControl
        self.highPass = highPass
        self.echoPath = max(50, min(500, echoPath / 10 * 10))
    }

    /// Everything off: the sound is unchanged.
    public static let off = VoiceProcessingOptions(echo: nil, noise: nil, gainControl: nil, highPass: false)

    func native(rate: Int) -> earshot_voice_options {
        earshot_voice_options(
            sample_rate: CInt(rate), echo_suppression: CInt(echo?.rawValue ?? -1),
            noise_suppression: CInt(noise?.rawValue ?? -1), gain_control: CInt(gainControl?.mode.rawValue ?? -1),
            target_level: CInt(-(gainControl?.target ?? -3)), compression_gain: CInt(gainControl?.gain ?? 9),
            high_pass: highPass ? 1 : 0, path_frames: CInt(echoPath / 10))
    }
}
