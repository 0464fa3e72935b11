// SPDX-License-Identifier: Apache-2.0

/// A request to open a device; the ``AudioDevice`` has the actual values.
public struct AudioDeviceRequest: Sendable {
    /// The requested device for one direction.
    public enum Side: Hashable, Sendable {
        /// No device for this direction.
        case none
        /// The system's default device. If there is none, the direction is left out.
        case systemDefault
        /// The device with this ``AudioDeviceDescription/id``.
        case device(id: String)
    }

    /// The client's name in the sound system; less than 64 bytes.
    public var clientName = "earshot"
    /// The input device.
    public var input = Side.systemDefault
    /// The output device. If input and output have different clocks, resampling compensates their drift.
    public var output = Side.systemDefault
    /// The sample rate in hertz; nil for the device's own rate.
    public var sampleRate: Double?
    /// The frames of each callback, 16 to 4,096; nil to use ``ioDuration``.
    public var blockFrameCount: Int?
    /// The duration in seconds of each callback's frames; used if ``blockFrameCount`` is nil.
    public var ioDuration = 0.005
    /// The number of buffers in each cycle's `input`, 0 to 32; 0 with ``Side/none``.
    public var inputChannelCount = 1
    /// The number of buffers in each cycle's `output`, 0 to 32; 0 with ``Side/none``.
    public var outputChannelCount = 2
    /// The device's channel, from 0, for each of the cycle's inputs; nil for the device's order. A missing channel is silent.
    public var inputChannelMap: [Int]?
    /// The device's channel, from 0, for each of the cycle's outputs; nil for the device's order, in which a single output is
    /// played on the device's first two channels. An output for a missing channel is not heard.
    public var outputChannelMap: [Int]?
    /// True to exclude other programs from the device, if the system supports it.
    public var isExclusive = false
    /// The monitor that records the device's callbacks; nil for a new one.
    package var monitor: CallbackMonitor?

    /// Creates a request for the default devices with one input, two outputs and blocks of 5 ms.
    public init() {}

    /// Returns the block length in frames to request at a sample rate in hertz.
    package func wantedBlock(at sampleRate: Double) -> Int {
        blockFrameCount ?? max(16, min(4_096, Int((ioDuration * sampleRate).rounded())))
    }
}

extension AudioDeviceRequest {
    /// Returns the request with ``Side/none`` for a direction without channels; for backends.
    /// - Throws: the errors of ``validate()``.
    package func validated() throws(AudioDeviceError) -> AudioDeviceRequest {
        try validate()
        var request = self
        if inputChannelCount == 0 { request.input = .none }
        if outputChannelCount == 0 { request.output = .none }
        return request
    }

    /// Returns the request that opens an input with a separate clock as a device of its own. A sample rate that the input does
    /// not support is left out, and the block is clamped to the input's range.
    /// - Parameter device: the input's description; nil if the input is not listed.
    func ofItsOwn(_ device: AudioDeviceDescription?) -> AudioDeviceRequest {
        var own = self
        own.monitor = nil
        guard let device else { return own }
        if let rate = sampleRate, !device.sampleRates.contains(rate) { own.sampleRate = nil }
        if let block = blockFrameCount {
            let blocks = device.blockFrameCounts
            own.blockFrameCount = max(blocks.lowerBound, min(blocks.upperBound, block))
        }
        return own
    }

    /// - Throws: ``AudioDeviceError/unsupportedFormat(detail:)`` if no device could support one of the request's values.
    package func validate() throws(AudioDeviceError) {
        func bad(_ detail: String) -> AudioDeviceError { .unsupportedFormat(detail: detail) }
        let counts = 0...32
        guard counts.contains(inputChannelCount), counts.contains(outputChannelCount) else {
            throw bad("\(inputChannelCount) inputs, \(outputChannelCount) outputs; supported: 0 to 32")
        }
        if let sampleRate, !(8_000...384_000).contains(sampleRate) {
            throw bad("\(sampleRate) Hz; supported: 8000 to 384000")
        }
        if let blockFrameCount, !(16...4_096).contains(blockFrameCount) {
            throw bad("blocks of \(blockFrameCount) frames; supported: 16 to 4096")
        }
        guard ioDuration > 0, ioDuration <= 1 else {
            throw bad("an I/O duration of \(ioDuration) s; supported: up to 1")
        }
        for (map, count) in [(inputChannelMap, inputChannelCount), (outputChannelMap, outputChannelCount)] {
            guard let map else { continue }
            guard map.count == count, map.allSatisfy({ (0..<1_024).contains($0) }) else {
                throw bad("a channel map of \(map) for \(count) channels, where each needs one device channel, from 0")
            }
        }
    }
}
