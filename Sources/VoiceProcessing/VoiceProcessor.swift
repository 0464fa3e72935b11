// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import CEarshotVoiceProcessing

/// Echo cancellation, noise suppression and gain control of one microphone, 10 ms at a time, with webrtc-audio-processing 0.3 or
/// 1.x after a linear echo canceller.
///
/// The library locks and allocates: never process in a render callback, use ``VoiceProcessingWorker`` there. For one thread at a
/// time.
public final class VoiceProcessor: @unchecked Sendable {  // one thread at a time, by contract
    /// The supported sample rates in hertz. Sound of other rates must be converted first.
    public static let sampleRates = [8_000, 16_000, 32_000, 48_000]

    /// The sample rate in hertz.
    public let sampleRate: Int
    /// The number of samples in 10 ms.
    public let frameCount: Int
    /// The options in use.
    public let options: VoiceProcessingOptions
    private let voice: OpaquePointer
    private var frames = 0  // processed frames of 10 ms
    private var nanoseconds: Int64 = 0  // spent on all frames
    private var worst: Int64 = 0  // nanoseconds spent on the slowest frame
    private var enhancement = EchoReturnLossEnhancement()

    /// - Parameter sampleRate: one of ``sampleRates``.
    public init(sampleRate: Int, options: VoiceProcessingOptions = VoiceProcessingOptions())
        throws(VoiceProcessingError)
    {
        guard Self.sampleRates.contains(sampleRate) else { throw .unsupportedRate(hertz: Double(sampleRate)) }
        var native = options.native(rate: sampleRate)
        var code: CInt = 0
        guard let voice = earshot_voice_create(&native, &code) else { throw .refused(code: Int(code)) }
        self.voice = voice
        self.sampleRate = sampleRate
        self.options = options
        frameCount = sampleRate / 100
    }

    deinit { earshot_voice_destroy(voice) }

    /// Returns the processing rate for a device's sample rate in hertz: the lowest of ``sampleRates`` that is not below the
    /// device's rate, or 48 kHz.
    package static func nearestRate(to rate: Double) -> Int { sampleRates.first { Double($0) >= rate } ?? 48_000 }

    /// Processes 10 ms of the microphone.
    /// - Parameters:
    ///   - microphone: ``frameCount`` samples; full scale is 1.
    ///   - reference: as many samples of the sound played on the loudspeaker at the same time.
    ///   - cleaned: the destination of as many processed samples, which are ``delay`` samples late; may be `microphone`.
    ///   - knownDelay: the milliseconds from `reference` to its echo in `microphone`; 0 if unknown. The delay is searched for in
    ///     any case.
    public func process(
        microphone: UnsafePointer<Float>, reference: UnsafePointer<Float>, into cleaned: UnsafeMutablePointer<Float>,
        knownDelay: Int = 0
    ) throws(VoiceProcessingError) {
        let denormals = earshot_flush_denormals()
        defer { earshot_restore_denormals(denormals) }
        let began = earshot_monotonic_ns()
        let input = meanSquare(microphone, frameCount)
        let code = earshot_voice_process(voice, microphone, reference, cleaned, CInt(max(0, min(500, knownDelay))))
        guard code == 0 else { throw .failed(code: Int(code)) }
        let spent = earshot_monotonic_ns() - began
        frames += 1
        nanoseconds += spent
        worst = max(worst, spent)
        enhancement.add(
            microphone: input, reference: meanSquare(reference, frameCount), cleaned: meanSquare(cleaned, frameCount))
    }

    /// The delay of the output in samples, as measured by correlation, within 0.1 ms.
    public var delay: Int { Int((delayMilliseconds * Double(sampleRate) / 1000).rounded()) }

    /// ``delay`` in milliseconds, before rounding to samples.
    package var delayMilliseconds: Double {
        var native = options.native(rate: sampleRate)
        return earshot_voice_delay(&native)
    }

    /// The current statistics. Not for a render callback.
    public var statistics: VoiceStatistics {
        var native = earshot_voice_statistics()
        earshot_voice_get_statistics(voice, &native)
        return VoiceStatistics(
            native, frames: frames, enhancement: enhancement,
            cost: frames == 0 ? 0 : Double(nanoseconds) / Double(frames) * 1e-6, worst: Double(worst) * 1e-6)
    }
}

func meanSquare(_ samples: UnsafePointer<Float>, _ count: Int) -> Double {
    var sum: Float = 0
    for i in 0..<count { sum += samples[i] * samples[i] }
    return Double(sum) / Double(max(1, count))
}
