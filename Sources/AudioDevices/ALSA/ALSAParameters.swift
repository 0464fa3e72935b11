// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import EarshotAudioBase

/// The possible configurations of an open PCM; each choice narrows them. The PCM is not started.
final class ALSAParameters {
    private let pcm: ALSAPCM
    private let space: OpaquePointer

    /// Creates all configurations of a PCM with interleaved samples.
    /// - Parameter isResampling: true if a `plug` PCM may convert the rate; a card's PCM cannot.
    init(_ pcm: ALSAPCM, isResampling: Bool) throws(AudioDeviceError) {
        var space: OpaquePointer?
        guard snd_pcm_hw_params_malloc(&space) == 0, let space else {
            throw .callFailed(.alsa, call: "snd_pcm_hw_params_malloc", code: Int(ENOMEM))
        }
        self.pcm = pcm
        self.space = space
        let code = snd_pcm_hw_params_any(pcm.handle, space)
        guard code >= 0 else { throw .alsa(code, call: "snd_pcm_hw_params_any", device: pcm.name) }
        snd_pcm_hw_params_set_rate_resample(pcm.handle, space, isResampling ? 1 : 0)
        guard snd_pcm_hw_params_set_access(pcm.handle, space, SND_PCM_ACCESS_RW_INTERLEAVED) >= 0 else {
            throw .unsupportedFormat(
                detail: "\(pcm.name) does not support interleaved samples; plug\(pcm.name) converts them")
        }
    }

    deinit { snd_pcm_hw_params_free(space) }

    // MARK: Possible values

    /// The possible channel counts.
    var channelCounts: ClosedRange<Int> {
        var (low, high): (CUnsignedInt, CUnsignedInt) = (0, 0)
        snd_pcm_hw_params_get_channels_min(space, &low)
        snd_pcm_hw_params_get_channels_max(space, &high)
        return Self.range(Int(low), Int(high))
    }

    /// The usual sample rates that are possible, in hertz, ascending; if there is none, the lowest and the highest possible rate.
    var sampleRates: [Double] {
        let usual = Self.usualRates.filter { has(sampleRate: $0) }
        guard usual.isEmpty else { return usual }
        var (low, high): (CUnsignedInt, CUnsignedInt) = (0, 0)
        snd_pcm_hw_params_get_rate_min(space, &low, nil)
        snd_pcm_hw_params_get_rate_max(space, &high, nil)
        return low == high ? [Double(low)] : [Double(low), Double(high)]
    }

    /// Returns true if exactly this sample rate in hertz is possible.
    func has(sampleRate: Double) -> Bool {
        guard let rate = CUnsignedInt(exactly: sampleRate) else { return false }
        return snd_pcm_hw_params_test_rate(pcm.handle, space, rate, 0) == 0
    }

    /// The possible periods in frames.
    var blockFrameCounts: ClosedRange<Int> {
        var (low, high): (snd_pcm_uframes_t, snd_pcm_uframes_t) = (0, 0)
        snd_pcm_hw_params_get_period_size_min(space, &low, nil)
        snd_pcm_hw_params_get_period_size_max(space, &high, nil)
        return Self.range(Int(clamping: low), Int(clamping: high))
    }

    /// The possible sample types, the best first.
    var sampleTypes: [SampleType] {
        SampleType.alsaPreference.filter { snd_pcm_hw_params_test_format(pcm.handle, space, $0.alsaFormat) == 0 }
    }

    static let usualRates: [Double] = [
        8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000, 176_400, 192_000,
        352_800,
        384_000,
    ]

    private static func range(_ low: Int, _ high: Int) -> ClosedRange<Int> { min(low, high)...high }

    // MARK: Choices

    /// Chooses and returns the first of these sample types that is possible.
    func choose(sampleTypes wanted: [SampleType]) throws(AudioDeviceError) -> SampleType {
        for type in wanted where snd_pcm_hw_params_set_format(pcm.handle, space, type.alsaFormat) >= 0 { return type }
        throw .unsupportedFormat(detail: "\(pcm.name) has none of the sample types that Earshot converts")
    }

    /// Chooses this number of channels, or else the next greater possible number, or else the next smaller one. Returns the
    /// number.
    func choose(channelCount wanted: Int) throws(AudioDeviceError) -> Int {
        let counts = channelCounts
        let upper = min(counts.upperBound, 256)
        let candidates = Array(stride(from: wanted, through: upper, by: 1)) + Array((1..<max(2, wanted)).reversed())
        for count in candidates where snd_pcm_hw_params_set_channels(pcm.handle, space, CUnsignedInt(count)) >= 0 {
            return count
        }
        throw .unsupportedFormat(detail: "\(pcm.name) has only \(counts.lowerBound) to \(counts.upperBound) channels")
    }

    /// Chooses exactly this sample rate in hertz.
    func choose(sampleRate: Double) throws(AudioDeviceError) {
        guard has(sampleRate: sampleRate),
            snd_pcm_hw_params_set_rate(pcm.handle, space, CUnsignedInt(sampleRate), 0) >= 0
        else { throw .refusedRate(sampleRate, by: pcm.name, offered: sampleRates) }
    }

    /// Chooses the nearest period, then the nearest buffer of at least two periods.
    /// - Returns: the period and the buffer, in frames.
    func choose(blockFrameCount: Int, bufferFrameCount: Int) throws(AudioDeviceError) -> (block: Int, buffer: Int) {
        var period = snd_pcm_uframes_t(blockFrameCount)
        var code = snd_pcm_hw_params_set_period_size_near(pcm.handle, space, &period, nil)
        guard code >= 0 else { throw .alsa(code, call: "snd_pcm_hw_params_set_period_size", device: pcm.name) }
        if pcm.isHardware { snd_pcm_hw_params_set_periods_integer(pcm.handle, space) }
        var minimumBuffer = 2 * period
        snd_pcm_hw_params_set_buffer_size_min(pcm.handle, space, &minimumBuffer)
        var buffer = max(snd_pcm_uframes_t(bufferFrameCount), 2 * period)
        code = snd_pcm_hw_params_set_buffer_size_near(pcm.handle, space, &buffer)
        guard code >= 0 else { throw .alsa(code, call: "snd_pcm_hw_params_set_buffer_size", device: pcm.name) }
        return (Int(period), Int(buffer))
    }

    /// Configures the PCM with the chosen values.
    func apply() throws(AudioDeviceError) {
        let code = snd_pcm_hw_params(pcm.handle, space)
        if code == -EINVAL { throw .unsupportedFormat(detail: "\(pcm.name) refuses what it offered before") }
        if code < 0 { throw .alsa(code, call: ALSACall.configure.name, device: pcm.name) }
    }
}

extension AudioDeviceError {
    static func refusedRate(_ rate: Double, by device: String, offered: [Double]) -> AudioDeviceError {
        let list = offered.map { "\(Int($0))" }.joined(separator: ", ")
        return .unsupportedFormat(detail: "\(Int(rate)) Hz; \(device) offers \(list.isEmpty ? "no common rate" : list)")
    }
}
