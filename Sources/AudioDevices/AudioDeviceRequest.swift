// SPDX-License-Identifier: Apache-2.0

/// A request to open a device of a sound system; the ``AudioDevice`` says what was granted.
public struct AudioDeviceRequest: Sendable {
    /// One side of a device.
    public enum Side: Hashable, Sendable {
        /// No device for this direction.
        case none
        /// The system's default; without this side if the system has none.
        case systemDefault
        /// The device with this ``AudioDeviceDescription/id``.
        case device(id: String)
    }

    /// The client's name in the sound system; shorter than 64 bytes.
    public var clientName = "earshot"
    /// The source of sound.
    public var input = Side.systemDefault
    /// The destination of sound. Another device than the input's is another clock: the drift between both is resampled away.
    public var output = Side.systemDefault
    /// Hertz; nil leaves it to the device.
    public var sampleRate: Double?
    /// Frames a call, 16 to 4,096; nil asks for ``ioDuration``.
    public var blockFrameCount: Int?
    /// Seconds that a call's frames shall last, where ``blockFrameCount`` is nil.
    public var ioDuration = 0.005
    /// Buffers in each cycle's `input`, 0 to 32; 0 with ``Side/none``.
    public var inputChannelCount = 1
    /// Buffers in each cycle's `output`, 0 to 32; 0 with ``Side/none``.
    public var outputChannelCount = 2
    /// For each of the cycle's inputs the device's channel, from 0; nil is in order. One that the device lacks is silent.
    public var inputChannelMap: [Int]?
    /// For each of the cycle's outputs the device's channel, from 0; nil is in order, a lone one to the first two. One that
    /// the device lacks is not heard.
    public var outputChannelMap: [Int]?
    /// True if no other program may use the device meanwhile, if the system knows of such a thing.
    public var isExclusive = false
    /// The monitor that records the device's callbacks; nil for a new one.
    package var monitor: CallbackMonitor?

    /// The default devices, one input, two outputs, 5 ms.
    public init() {}

    /// Frames to ask for at a rate.
    package func wantedBlock(at sampleRate: Double) -> Int {
        blockFrameCount ?? max(16, min(4_096, Int((ioDuration * sampleRate).rounded())))
    }
}

extension AudioDeviceRequest {
    /// The same, with ``Side/none`` for a side that has no channels; for backends.
    /// - Throws: what ``validate()`` does.
    package func validated() throws(AudioDeviceError) -> AudioDeviceRequest {
        try validate()
        var request = self
        if inputChannelCount == 0 { request.input = .none }
        if outputChannelCount == 0 { request.output = .none }
        return request
    }

    /// Returns the request for an input that another card's clock reads: its rate and its block need not be the client's.
    /// - Parameter device: the input, if it is listed.
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

    /// - Throws: ``AudioDeviceError/unsupportedFormat(detail:)`` if a number is outside what any device takes.
    package func validate() throws(AudioDeviceError) {
        func bad(_ detail: String) -> AudioDeviceError { .unsupportedFormat(detail: detail) }
        let counts = 0...32
        guard counts.contains(inputChannelCount), counts.contains(outputChannelCount) else {
            throw bad("\(inputChannelCount) inputs, \(outputChannelCount) outputs; it takes 0 to 32")
        }
        if let sampleRate, !(8_000...384_000).contains(sampleRate) {
            throw bad("\(sampleRate) Hz; it takes 8000 to 384000")
        }
        if let blockFrameCount, !(16...4_096).contains(blockFrameCount) {
            throw bad("blocks of \(blockFrameCount) frames; it takes 16 to 4096")
        }
        guard ioDuration > 0, ioDuration <= 1 else { throw bad("an I/O duration of \(ioDuration) s; it takes up to 1") }
        for (map, count) in [(inputChannelMap, inputChannelCount), (outputChannelMap, outputChannelCount)] {
            guard let map else { continue }
            guard map.count == count, map.allSatisfy({ (0..<1_024).contains($0) }) else {
                throw bad("a channel map of \(map) for \(count) channels, where each needs one device channel, from 0")
            }
        }
    }
}
