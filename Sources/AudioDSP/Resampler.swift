import AudioBase
import CRealtime

/// Converts between sample rates by any ratio, which may change from block to block without a click.
///
/// A windowed-sinc interpolator: 256 phases of a Kaiser-windowed low-pass, linearly interpolated between phases (J. O.
/// Smith, "Digital Audio Resampling", bandlimited interpolation; error of the interpolation below −90 dB). Used for fixed
/// conversion (44.1 to 48 kHz) and, with ``step`` moved by parts in a million, to follow another device's clock.
///
/// Input is written into the resampler's own memory, so that a decoder or a ring can fill it without a copy between:
/// ask ``inputNeeded(for:)``, fill ``input``, call ``render(_:frameCount:offset:adding:)``. All but `init` is render-safe; one
/// thread at a time.
public struct Resampler: ~Copyable {
    /// Input frames advanced for each output frame: input rate over output rate.
    public var step: Double
    /// Input frames on each side of an output frame that shape it; what the filter adds to the delay.
    public let halfLength: Int
    /// Where input goes: `inputNeeded` frames from ``inputOffset`` on.
    public let input: Channels
    /// The first frame of ``input`` not filled yet.
    public private(set) var inputOffset: Int

    private let table: UnsafeMutablePointer<Float>  // (phases + 1) rows of 2 * halfLength
    private let row: UnsafeMutablePointer<Float>  // the row interpolated for one output frame
    private let memory: UnsafeMutablePointer<Float>
    private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    private let capacity: Int
    private var position: Double  // of the next output frame, in frames of `input`
    private static let phases = 256

    /// - Parameters:
    ///   - inputRate: in hertz.
    ///   - outputRate: in hertz; the quotient of both is the first ``step``.
    ///   - halfLength: 8 to 128, a multiple of 4. 16 leaves the band to 0.4 of the rate untouched, 32 to 0.45.
    ///   - maximumFrameCount: output frames one call may ask for.
    public init(
        from inputRate: Double, to outputRate: Double, channelCount: Int, halfLength: Int = 16,
        maximumFrameCount: Int = 4096
    ) {
        precondition(inputRate > 0 && outputRate > 0 && channelCount >= 1 && maximumFrameCount >= 1)
        precondition((8...128).contains(halfLength) && halfLength % 4 == 0)
        step = inputRate / outputRate
        // When the rate falls the filter is stretched, so that the cut-off lies below the new half rate.
        let stretch = max(1, inputRate / outputRate)
        let half = (Int((Double(halfLength) * stretch).rounded(.up)) + 3) / 4 * 4
        self.halfLength = half
        table = Self.makeTable(half: half, cutoff: 1 / stretch)
        row = .allocate(capacity: 2 * half)
        row.initialize(repeating: 0, count: 2 * half)
        capacity = 2 * half + Int(Double(maximumFrameCount) * step * 1.1) + 64
        memory = .allocate(capacity: channelCount * capacity)
        pointers = .allocate(capacity: channelCount)
        for c in 0..<channelCount { (pointers + c).initialize(to: memory + c * capacity) }
        input = Channels(pointers, count: channelCount)
        position = 0
        inputOffset = 0
        reset()
    }

    deinit {
        table.deallocate()
        row.deallocate()
        memory.deallocate()
        pointers.deallocate()
    }

    /// Forgets all input: the next output starts from silence, at the first input frame.
    @_noLocks
    public mutating func reset() {
        clearSamples(memory, input.count &* capacity)
        inputOffset = halfLength &- 1
        position = Double(halfLength &- 1)
    }

    /// Input frames to write at ``inputOffset`` before `frameCount` frames can be rendered.
    @_noLocks
    public func inputNeeded(for frameCount: Int) -> Int {
        guard frameCount > 0 else { return 0 }
        let last = Int(position + step * Double(frameCount &- 1))
        return max(0, last &+ halfLength &+ 1 &- inputOffset)
    }

    /// Output frames that `frameCount` more input frames allow.
    @_noLocks
    public func outputAvailable(afterAdding frameCount: Int) -> Int {
        let last = inputOffset &+ frameCount &- halfLength &- 1  // the newest whole position that has its taps
        var count = max(0, Int((Double(last &+ 1) - position) / step))
        while inputNeeded(for: count &+ 1) <= frameCount { count &+= 1 }
        while count > 0, inputNeeded(for: count) > frameCount { count &-= 1 }
        return count
    }

    /// How far, in input frames, the next output frame lies before the next frame to be written; the delay of the filter
    /// and of the fraction in hand.
    public var heldFrames: Double {
        @_noLocks get { Double(inputOffset) - position }
    }

    /// Renders a block out of input written before.
    /// - Parameters:
    ///   - added: frames the caller has written at ``inputOffset``; at least `inputNeeded(for: frameCount)`.
    @_noLocks
    public mutating func render(_ output: Channels, frameCount: Int, offset: Int = 0, adding added: Int) {
        inputOffset = inputOffset &+ added
        let taps = 2 &* halfLength
        for i in 0..<frameCount {
            let at = position + step * Double(i)  // as inputNeeded(for:) has it, to the last bit
            let whole = Int(at)
            let phase = (at - Double(whole)) * Double(Self.phases)
            let index = Int(phase)
            interpolate(table + index &* taps, by: Float(phase - Double(index)), taps: taps)
            for c in 0..<input.count {
                output[c][offset &+ i] = dot(row, input[c] + (whole &- halfLength &+ 1), taps)
            }
        }
        position += step * Double(frameCount)
        let used = Int(position) &- halfLength &+ 1
        if used > 0 {
            for c in 0..<input.count { moveSamples(input[c], input[c] + used, inputOffset &- used) }
            inputOffset = inputOffset &- used
            position -= Double(used)
        }
    }

    @_noLocks @inline(__always)
    private func interpolate(_ from: UnsafeMutablePointer<Float>, by fraction: Float, taps: Int) {
        var k = 0
        while k < taps {
            let a = load4(from + k)
            let b = load4(from + taps + k)
            store4(a + (b - a) * fraction, row + k)
            k &+= 4
        }
    }

    /// Half-lengths are multiples of 4, so a row is whole groups of eight taps.
    @_noLocks @inline(__always)
    private func dot(_ a: UnsafeMutablePointer<Float>, _ b: UnsafeMutablePointer<Float>, _ count: Int) -> Float {
        var s0 = SIMD4<Float>(repeating: 0)
        var s1 = SIMD4<Float>(repeating: 0)
        var k = 0
        while k < count {
            s0 += load4(a + k) * load4(b + k)
            s1 += load4(a + k + 4) * load4(b + k + 4)
            k &+= 8
        }
        let s = s0 + s1
        return (s[0] + s[1]) + (s[2] + s[3])
    }
}

extension Resampler {
    /// `phases + 1` rows of taps: row r is the filter for an output r / phases of a frame behind an input frame.
    private static func makeTable(half: Int, cutoff: Double) -> UnsafeMutablePointer<Float> {
        let taps = 2 * half
        let table = UnsafeMutablePointer<Float>.allocate(capacity: (phases + 1) * taps)
        let beta = 8.0
        var taper = [Double](repeating: 0, count: taps)
        for r in 0...phases {
            let fraction = Double(r) / Double(phases)
            var sum = 0.0
            for k in 0..<taps {
                let t = Double(k - half + 1) - fraction  // distance from the output frame to this tap
                let x = t / Double(half)
                let window = abs(x) >= 1 ? 0 : besselI0(beta * (1 - x * x).squareRoot()) / besselI0(beta)
                let angle = Double.pi * t * cutoff
                taper[k] = (abs(t) < 1e-12 ? 1 : earshot_sin(angle) / angle) * window
                sum += taper[k]
            }
            for k in 0..<taps { (table + r * taps + k).initialize(to: Float(taper[k] / sum)) }  // gain 1 at 0 Hz
        }
        return table
    }

    /// The modified Bessel function of order zero, by its power series.
    static func besselI0(_ x: Double) -> Double {
        var term = 1.0
        var sum = 1.0
        var k = 1.0
        while term > sum * 1e-12 {
            term *= (x / (2 * k)) * (x / (2 * k))
            sum += term
            k += 1
        }
        return sum
    }
}
