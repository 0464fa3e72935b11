// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Converts between sample rates by any ratio.
///
/// A windowed-sinc interpolator (J. O. Smith, "Digital Audio Resampling"), whose filter and price its ``Quality`` says.
/// Positions are whole numbers of a fixed fraction of a frame, so that samples depend on neither how blocks are cut nor how
/// long it has been running.
///
/// Input is written into the resampler's own memory, so that a decoder or a ring can fill it without a copy between:
/// ask ``inputNeeded(for:)``, fill ``input``, call ``render(_:frameCount:offset:adding:)``. Input may also come ahead of
/// need: ``append(_:)`` keeps it, as long as there is ``inputRoom``. All but `init` is render-safe; one thread at a time.
public struct Resampler: ~Copyable {
    /// Input frames on each side of an output frame that shape it; what the filter adds to the delay.
    package let halfLength: Int
    /// The input buffer: write `inputNeeded` frames from ``inputOffset`` on.
    public let input: Channels
    /// The first frame of ``input`` not filled yet.
    public private(set) var inputOffset: Int

    private let filter: ResamplerFilter
    private let memory: UnsafeMutablePointer<Float>
    private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    private let capacity: Int
    private let before: Int  // frames kept before that of the next output
    private let vectorWidth = earshot_vector_width()
    // The next output frame lies at whole + fraction / denominator in `input`; they lie stride / denominator apart.
    private let denominator: Int
    private var stride: Int
    private var whole: Int
    private var fraction = 0

    /// A steerable resampler: short, and its ``step`` may move.
    /// - Parameters:
    ///   - inputRate: in hertz.
    ///   - outputRate: in hertz; the quotient of both is the first ``step``.
    ///   - halfLength: as ``Quality/steerable(halfLength:)`` has it.
    ///   - maximumFrameCount: output frames one call may ask for.
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
    ///   - maximumFrameCount: output frames one call may ask for.
    ///   - excess: input frames that may lie there besides those that the next call needs.
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

    /// Input frames advanced for each output frame: input rate over output rate, to 12 digits. Setting it, between any two
    /// blocks, makes no click; a resampler that is not steerable keeps the step it has.
    public var step: Double {
        @_noLocks get { Double(stride) / Double(denominator) }
        @_noLocks set {
            if filter.isSteerable { stride = Int(earshot_round(newValue * Double(denominator))) }
        }
    }

    /// Forgets all input: the next output starts from silence, at the first input frame.
    @_noLocks
    public mutating func reset() { reset(delay: 0) }

    /// Forgets all input and begins with `delay` output frames of silence, before that of the first input frame. So much
    /// less input is needed for the first block.
    @_noLocks
    mutating func reset(delay: Int) {
        clearSamples(memory, input.count &* capacity)
        let back = delay &* stride
        let silent = (back &+ denominator &- 1) / denominator
        whole = before
        fraction = silent &* denominator &- back
        inputOffset = before &+ silent
    }

    /// Frames that may be written at ``inputOffset``.
    package var inputRoom: Int { @_noLocks get { capacity &- inputOffset } }

    /// Input frames to write at ``inputOffset`` before `frameCount` frames can be rendered.
    @_noLocks
    public func inputNeeded(for frameCount: Int) -> Int {
        guard frameCount > 0 else { return 0 }
        let steps = frameCount &- 1
        // Apart, so that the product of a fine fraction and many frames still fits.
        let last =
            whole &+ steps &* (stride / denominator) &+ (fraction &+ steps &* (stride % denominator)) / denominator
        return max(0, last &+ halfLength &+ 1 &- inputOffset)
    }

    /// Output frames that `frameCount` more input frames allow.
    @_noLocks
    package func outputAvailable(afterAdding frameCount: Int) -> Int {
        // An output frame may lie anywhere before the first whole position that lacks a tap.
        let end = inputOffset &+ frameCount &- halfLength
        guard end > whole else { return 0 }
        return ((end &- whole) &* denominator &- fraction &- 1) / stride &+ 1
    }

    /// Input frames between the next output frame and the next frame to be written: the delay of the filter and of the current
    /// fraction.
    package var heldFrames: Double {
        @_noLocks get { Double(inputOffset &- whole) - Double(fraction) / Double(denominator) }
    }

    /// Keeps `frameCount` frames that the caller has written at ``inputOffset``; at most ``inputRoom``.
    @_noLocks
    package mutating func append(_ frameCount: Int) { inputOffset = inputOffset &+ frameCount }

    /// Renders a block out of input written before.
    /// - Parameters:
    ///   - added: frames the caller has written at ``inputOffset``; at least `inputNeeded(for: frameCount)`.
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

    /// Interpolates between the products with two rows: to make a row that lies between both would cost as much as a channel.
    @_noLocks
    private mutating func renderBetween(_ output: Channels, _ frameCount: Int, _ offset: Int) {
        for c in 0..<input.count {
            earshot_interpolate_by(
                vectorWidth, input[c] + (whole &- before), filter.rows, 2 &* halfLength, Int64(fraction),
                Int64(stride), output[c] + offset, frameCount)
        }
        // Apart, so that the product of a fine fraction and many frames still fits.
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
