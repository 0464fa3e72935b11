// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Converts between sample rates by any ratio.
///
/// A windowed-sinc interpolator (J. O. Smith, "Digital Audio Resampling"), with the filter and cost of its ``Quality``. Positions
/// are counted in a fixed fraction of a frame, so that the output does not depend on the division into blocks or on the running
/// time.
///
/// Input is written directly into the resampler's memory, without a copy: call ``inputNeeded(for:)``, fill ``input``, call
/// ``render(_:frameCount:offset:adding:)``. Input may also be written ahead by ``append(_:)`` while there is ``inputRoom``.
/// Everything except `init` is safe on the render thread; for one thread at a time.
public struct Resampler: ~Copyable {
    /// The input frames on each side that determine an output frame: the filter's delay.
    package let halfLength: Int
    /// The input buffer: write `inputNeeded` frames at ``inputOffset``.
    public let input: Channels
    /// The first free frame of ``input``.
    public private(set) var inputOffset: Int

    private let filter: ResamplerFilter
    private let memory: UnsafeMutablePointer<Float>
    private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    private let capacity: Int  // frames
    /// The input frames that are kept before the next output frame's position.
    package let historyCount: Int
    private let floatsPerVector = earshot_vector_width()
    // The next output frame is at wholeFrame + fraction / denominator in `input`; output frames are stride / denominator
    // input frames apart.
    private let denominator: Int
    private var stride: Int
    private var wholeFrame: Int
    private var fraction = 0

    /// Creates a steerable resampler with a short filter and a variable ``step``.
    /// - Parameters:
    ///   - inputRate: in hertz.
    ///   - outputRate: in hertz; the ratio of the rates is the first ``step``.
    ///   - halfLength: as in ``Quality/steerable(halfLength:)``.
    ///   - maximumFrameCount: the maximum output frames of a call.
    public init(
        from inputRate: Double, to outputRate: Double, channelCount: Int, halfLength: Int = 16,
        maximumFrameCount: Int = 4096
    ) {
        self.init(
            from: inputRate, to: outputRate, channelCount: channelCount, quality: .steerable(halfLength: halfLength),
            maximumFrameCount: maximumFrameCount)
    }

    /// - Parameters:
    ///   - inputRate: in hertz.
    ///   - outputRate: in hertz.
    ///   - maximumFrameCount: the maximum output frames of a call.
    ///   - excess: the input frames that may be stored besides those that the next call needs.
    public init(
        from inputRate: Double, to outputRate: Double, channelCount: Int, quality: Quality,
        maximumFrameCount: Int = 4096, excess: Int = 0
    ) {
        precondition(inputRate > 0 && outputRate > 0 && channelCount >= 1 && maximumFrameCount >= 1 && excess >= 0)
        filter = ResamplerFilter(from: inputRate, to: outputRate, quality: quality)
        halfLength = filter.halfLength
        denominator = filter.denominator
        stride = Int(earshot_round(inputRate / outputRate * Double(filter.denominator)))
        capacity = 2 * halfLength + Int(Double(maximumFrameCount) * inputRate / outputRate * 1.1) + 64 + excess
        memory = .allocate(capacity: channelCount * capacity)
        memory.initialize(repeating: 0, count: channelCount * capacity)
        pointers = .allocate(capacity: channelCount)
        for c in 0..<channelCount { (pointers + c).initialize(to: memory + c * capacity) }
        input = Channels(pointers, count: channelCount)
        historyCount = max(0, halfLength - 1)
        wholeFrame = historyCount
        inputOffset = historyCount
    }

    deinit {
        memory.deallocate()
        pointers.deallocate()
    }

    /// The input frames for each output frame: input rate divided by output rate, to 12 digits. It can be set between any two
    /// blocks without a click; a resampler that is not steerable ignores it.
    public var step: Double {
        @_noLocks get { Double(stride) / Double(denominator) }
        @_noLocks set {
            if filter.isSteerable { stride = Int(earshot_round(newValue * Double(denominator))) }
        }
    }

    /// Discards all input: the next output starts from silence, at the first input frame.
    @_noLocks
    public mutating func reset() { reset(delay: 0) }

    /// Discards all input and starts with `delay` output frames of silence before the first input frame, so that the first block
    /// needs less input.
    @_noLocks
    mutating func reset(delay: Int) {
        clearSamples(memory, input.count &* capacity)
        let back = delay &* stride
        let silentFrames = (back &+ denominator &- 1) / denominator
        wholeFrame = historyCount
        fraction = silentFrames &* denominator &- back
        inputOffset = historyCount &+ silentFrames
    }

    /// Discards all input, and starts within a signal: of the input written from now on, the first ``historyCount`` frames lie
    /// before the frame that the next output frame follows.
    /// - Parameter fraction: the distance from that frame to the next output frame in frames, 0 ..< 1. A resampler that is not
    ///   steerable ignores it.
    @_noLocks
    package mutating func restart(fraction: Double) {
        wholeFrame = historyCount
        self.fraction =
            filter.isSteerable ? max(0, min(denominator &- 1, Int(earshot_round(fraction * Double(denominator))))) : 0
        inputOffset = 0
    }

    /// The frames that can be written at ``inputOffset``.
    package var inputRoom: Int { @_noLocks get { capacity &- inputOffset } }

    /// Returns the input frames to write at ``inputOffset`` before `frameCount` frames can be rendered.
    @_noLocks
    public func inputNeeded(for frameCount: Int) -> Int {
        guard frameCount > 0 else { return 0 }
        let steps = frameCount &- 1
        // The whole and the fractional part are multiplied separately: one product of many frames could overflow.
        let last =
            wholeFrame &+ steps &* (stride / denominator) &+ (fraction &+ steps &* (stride % denominator)) / denominator
        return max(0, last &+ halfLength &+ 1 &- inputOffset)
    }

    /// Returns the output frames that can be rendered after `frameCount` more input frames.
    @_noLocks
    package func outputAvailable(afterAdding frameCount: Int) -> Int {
        // An output frame needs a position before `end`, the first whole position at which the last tap has no input.
        let end = inputOffset &+ frameCount &- halfLength
        guard end > wholeFrame else { return 0 }
        return ((end &- wholeFrame) &* denominator &- fraction &- 1) / stride &+ 1
    }

    /// The distance from the next output frame's position to the next input frame to write, in input frames: the filter's delay,
    /// a fraction of a frame, and the input written ahead.
    package var heldFrames: Double {
        @_noLocks get { Double(inputOffset &- wholeFrame) - Double(fraction) / Double(denominator) }
    }

    /// Adds `frameCount` frames that the caller has written at ``inputOffset``; at most ``inputRoom``.
    @_noLocks
    package mutating func append(_ frameCount: Int) { inputOffset = inputOffset &+ frameCount }

    /// Renders a block of output from the input written before.
    /// - Parameters:
    ///   - added: the frames that the caller has written at ``inputOffset``; at least `inputNeeded(for: frameCount)`.
    @_noLocks
    public mutating func render(_ output: Channels, frameCount: Int, offset: Int = 0, adding added: Int = 0) {
        append(added)
        if halfLength == 0 {
            for c in 0..<input.count { copySamples(output[c] + offset, input[c] + wholeFrame, frameCount) }
            wholeFrame = wholeFrame &+ frameCount
        } else if filter.isSteerable {
            renderBetween(output, frameCount, offset)
        } else {
            renderFiltered(output, frameCount, offset)
        }
        let usedFrames = wholeFrame &- historyCount
        if usedFrames > 0 {
            for c in 0..<input.count { moveSamples(input[c], input[c] + usedFrames, inputOffset &- usedFrames) }
            inputOffset = inputOffset &- usedFrames
            wholeFrame = historyCount
        }
    }

    @_noLocks
    private mutating func renderFiltered(_ output: Channels, _ frameCount: Int, _ offset: Int) {
        let taps = 2 &* halfLength
        let wholeStep = stride / denominator
        let fractionStep = stride % denominator
        // Half-lengths are multiples of 4, so a row of taps consists of whole groups of eight.
        for i in offset..<offset &+ frameCount {
            let rowTaps = filter.row(at: fraction)
            let firstInput = wholeFrame &- historyCount
            if input.count == 2 {
                let (left, right) = (input[0] + firstInput, input[1] + firstInput)
                let sums = earshot_dots_by(floatsPerVector, rowTaps, left, right, taps)
                output[0][i] = sums.x
                output[1][i] = sums.y
            } else {
                for c in 0..<input.count {
                    output[c][i] = earshot_dot_by(floatsPerVector, rowTaps, input[c] + firstInput, taps)
                }
            }
            advance(wholeStep, fractionStep)
        }
    }

    /// Renders a block by linear interpolation between the results of two rows of taps. To interpolate the rows themselves would
    /// cost as much as another channel.
    @_noLocks
    private mutating func renderBetween(_ output: Channels, _ frameCount: Int, _ offset: Int) {
        for c in 0..<input.count {
            earshot_interpolate_by(
                floatsPerVector, input[c] + (wholeFrame &- historyCount), filter.rows, 2 &* halfLength, Int64(fraction),
                Int64(stride), output[c] + offset, frameCount)
        }
        // The whole and the fractional part are multiplied separately: one product of many frames could overflow.
        let fractions = fraction &+ frameCount &* (stride % denominator)
        wholeFrame = wholeFrame &+ frameCount &* (stride / denominator) &+ fractions / denominator
        fraction = fractions % denominator
    }

    @_noLocks @inline(__always)
    private mutating func advance(_ wholeStep: Int, _ fractionStep: Int) {
        wholeFrame = wholeFrame &+ wholeStep
        fraction = fraction &+ fractionStep
        if fraction >= denominator {
            fraction = fraction &- denominator
            wholeFrame = wholeFrame &+ 1
        }
    }
}
