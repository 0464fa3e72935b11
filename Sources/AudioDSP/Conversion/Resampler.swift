// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Converts between sample rates by any ratio.
///
/// A windowed-sinc interpolator (J. O. Smith, "Digital Audio Resampling"), with the filter and cost of its ``Quality``. Positions
/// are whole numbers of a fixed fraction of a frame, so samples depend neither on the division into blocks nor on the running
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
    private let capacity: Int
    private let before: Int  // frames kept before that of the next output
    private let vectorWidth = earshot_vector_width()
    // The next output frame is at whole + fraction / denominator in `input`; output frames are stride / denominator apart.
    private let denominator: Int
    private var stride: Int
    private var whole: Int
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
        before = max(0, halfLength - 1)
        whole = before
        inputOffset = before
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
        let silent = (back &+ denominator &- 1) / denominator
        whole = before
        fraction = silent &* denominator &- back
        inputOffset = before &+ silent
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
            whole &+ steps &* (stride / denominator) &+ (fraction &+ steps &* (stride % denominator)) / denominator
        return max(0, last &+ halfLength &+ 1 &- inputOffset)
    }

    /// Returns the output frames that `frameCount` more input frames allow.
    @_noLocks
    package func outputAvailable(afterAdding frameCount: Int) -> Int {
        // An output frame must be before the first whole position that lacks a tap.
        let end = inputOffset &+ frameCount &- halfLength
        guard end > whole else { return 0 }
        return ((end &- whole) &* denominator &- fraction &- 1) / stride &+ 1
    }

    /// The input frames between the next output frame and the next input frame: the delay of the filter and the present fraction.
    package var heldFrames: Double {
        @_noLocks get { Double(inputOffset &- whole) - Double(fraction) / Double(denominator) }
    }

    /// Adds `frameCount` frames that the caller has written at ``inputOffset``; at most ``inputRoom``.
    @_noLocks
    package mutating func append(_ frameCount: Int) { inputOffset = inputOffset &+ frameCount }

    /// Renders a block from written input.
    /// - Parameters:
    ///   - added: the frames that the caller has written at ``inputOffset``; at least `inputNeeded(for: frameCount)`.
    @_noLocks
    public mutating func render(_ output: Channels, frameCount: Int, offset: Int = 0, adding added: Int = 0) {
        append(added)
        if halfLength == 0 {
            for c in 0..<input.count { copySamples(output[c] + offset, input[c] + whole, frameCount) }
            whole = whole &+ frameCount
        } else if filter.isSteerable {
            renderBetween(output, frameCount, offset)
        } else {
            renderFiltered(output, frameCount, offset)
        }
        let used = whole &- before
        if used > 0 {
            for c in 0..<input.count { moveSamples(input[c], input[c] + used, inputOffset &- used) }
            inputOffset = inputOffset &- used
            whole = before
        }
    }

    @_noLocks
    private mutating func renderFiltered(_ output: Channels, _ frameCount: Int, _ offset: Int) {
        let taps = 2 &* halfLength
        let wholeStep = stride / denominator
        let fractionStep = stride % denominator
        // Half-lengths are multiples of 4, so a row is whole groups of eight taps.
        for i in offset..<offset &+ frameCount {
            let row = filter.row(at: fraction)
            let at = whole &- before
            if input.count == 2 {
                let (left, right) = (input[0] + at, input[1] + at)
                let sums = earshot_dots_by(vectorWidth, row, left, right, taps)
                output[0][i] = sums.x
                output[1][i] = sums.y
            } else {
                for c in 0..<input.count {
                    output[c][i] = earshot_dot_by(vectorWidth, row, input[c] + at, taps)
                }
            }
            advance(wholeStep, fractionStep)
        }
    }

    /// Interpolates between the results of two rows: to make an intermediate row would cost as much as a channel.
    @_noLocks
    private mutating func renderBetween(_ output: Channels, _ frameCount: Int, _ offset: Int) {
        for c in 0..<input.count {
            earshot_interpolate_by(
                vectorWidth, input[c] + (whole &- before), filter.rows, 2 &* halfLength, Int64(fraction),
                Int64(stride), output[c] + offset, frameCount)
        }
        // The whole and the fractional part are multiplied separately: one product of many frames could overflow.
        let fractions = fraction &+ frameCount &* (stride % denominator)
        whole = whole &+ frameCount &* (stride / denominator) &+ fractions / denominator
        fraction = fractions % denominator
    }

    @_noLocks @inline(__always)
    private mutating func advance(_ wholeStep: Int, _ fractionStep: Int) {
        whole = whole &+ wholeStep
        fraction = fraction &+ fractionStep
        if fraction >= denominator {
            fraction = fraction &- denominator
            whole = whole &+ 1
        }
    }
}
