// SPDX-License-Identifier: Apache-2.0

import CEarshotVoiceProcessing

/// The processing of a microphone. The defaults suit a call with a loudspeaker and an open microphone.
public struct VoiceProcessingOptions: Hashable, Sendable {
    /// The strength of the suppression of residual echo. In double talk a stronger one takes more of the near talker too.
    /// webrtc-audio-processing 1.x has one level.
    public enum EchoSuppression: Int, CaseIterable, Sendable {
        /// The least harm to the near talker.
        case low
        /// Between both.
        case moderate
        /// The least echo.
        case high
    }

    /// The suppression of steady noise.
    public enum NoiseSuppression: Int, CaseIterable, Sendable {
        /// By some 6 dB.
        case low
        /// By some 12 dB.
        case moderate
        /// By some 17 dB.
        case high
        /// By some 19 dB.
        case veryHigh
    }

    /// The gain control of the talker.
    public struct GainControl: Hashable, Sendable {
        /// The mode of the gain.
        public enum Mode: Int, CaseIterable, Sendable {
            /// It follows over seconds.
            case adaptive = 1
            /// It is fixed, and loud sound is compressed.
            case fixed = 2
        }

        /// Which of both.
        public var mode: Mode
        /// The peak that is aimed at, in decibels of full scale, -31 to 0.
        public var target: Int
        /// The most that sound is raised by, in decibels, 0 to 90.
        public var gain: Int

        /// A control; values outside their ranges are brought to the nearest end.
        public init(mode: Mode = .adaptive, target: Int = -3, gain: Int = 9) {
            self.mode = mode
            self.target = max(-31, min(0, target))
            self.gain = max(0, min(90, gain))
        }
    }

    /// nil is no echo cancellation at all.
    public var echo: EchoSuppression?
    /// nil is none.
    public var noise: NoiseSuppression?
    /// nil is none.
    public var gainControl: GainControl?
    /// Takes away what is below the voice: rumble, direct current.
    public var highPass: Bool
    /// The longest echo that is modelled: delay and the room's decay, in milliseconds, 50 to 500 in steps of 10.
    package var echoPath: Int

    /// Options of one's own.
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

    /// Every part off: the sound passes unchanged.
    public static let off = VoiceProcessingOptions(echo: nil, noise: nil, gainControl: nil, highPass: false)

    func native(rate: Int) -> earshot_voice_options {
        earshot_voice_options(
            sample_rate: CInt(rate), echo_suppression: CInt(echo?.rawValue ?? -1),
            noise_suppression: CInt(noise?.rawValue ?? -1), gain_control: CInt(gainControl?.mode.rawValue ?? -1),
            target_level: CInt(-(gainControl?.target ?? -3)), compression_gain: CInt(gainControl?.gain ?? 9),
            high_pass: highPass ? 1 : 0, path_frames: CInt(echoPath / 10))
    }
}
