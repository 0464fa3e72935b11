// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import CEarshotVoiceProcessing

/// Echo cancellation, noise suppression and gain control of one microphone, 10 ms at a time, by webrtc-audio-processing
/// 0.3 or 1.x with a linear echo canceller before it.
///
/// It locks and allocates: never call it from a render callback (``VoiceProcessingWorker`` is for that). One thread at a
/// time.
public final class VoiceProcessor: @unchecked Sendable {  // one thread at a time, by contract
    /// The rates it runs at, in hertz; other sound is converted first.
    public static let sampleRates = [8_000, 16_000, 32_000, 48_000]

    /// In hertz.
    public let sampleRate: Int
    /// Frames in 10 ms.
    public let frameCount: Int
    /// The options.
    public let options: VoiceProcessingOptions
    private let voice: OpaquePointer
    private var frames = 0
    private var nanoseconds: Int64 = 0
    private var worst: Int64 = 0
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

    /// The rate to run at for a device's: the least of ``sampleRates`` that keeps its band, else 48 kHz.
    package static func nearestRate(to rate: Double) -> Int { sampleRates.first { Double($0) >= rate } ?? 48_000 }

    /// Cleans 10 ms of the microphone.
    /// - Parameters:
    ///   - microphone: ``frameCount`` samples, full scale is 1.
    ///   - reference: what is given to the loudspeaker at the same time.
    ///   - cleaned: gets as many, ``delay`` frames late; may be `microphone`.
    ///   - knownDelay: milliseconds from `reference` to its echo in `microphone`, if that is known; it is searched anyway.
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

    /// Frames by which what comes out is behind what went in: measured of the library, by correlation, within 0.1 ms.
    public var delay: Int { Int((delayMilliseconds * Double(sampleRate) / 1000).rounded()) }

    /// The ``delay`` in milliseconds.
    package var delayMilliseconds: Double {
        var native = options.native(rate: sampleRate)
        return earshot_voice_delay(&native)
    }

    /// The present statistics. Not for a render callback.
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
