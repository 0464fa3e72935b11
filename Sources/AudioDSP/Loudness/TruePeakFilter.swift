import AudioBase
import CRealtime

/// The greatest magnitude between samples, at eight times the rate, all but where it cannot matter.
///
/// Two windowed-sinc interpolators (Kaiser): one of 112 taps to twice the rate, steep enough to see what a converter sees
/// up to 0.48 of the rate, then a short one to eight times. Each frame yields the peak of the interval of one frame that
/// lies ``delay`` frames back. Where no sample of the last while reaches a threshold divided by the filters' greatest gain
/// nothing is calculated, as the result would lie below the threshold.
struct TruePeakFilter: ~Copyable {
    /// The result for a frame is the peak between the samples this many frames and this many less one frames before it.
    static var delay: Int { @_noLocks get { 58 } }
    private static var half: Int { @_noLocks get { 56 } }
    private static var idleAfter: Int { @_noLocks get { 120 } }  // longer than both filters
    private static var stride: Int { @_noLocks get { 288 } }  // 128 samples and 16 doubled ones, twice each so that reads never wrap

    private let taps: UnsafeMutablePointer<Float>  // 112 of the first filter, 8 times 4 phases of the second
    private let memory: UnsafeMutablePointer<Float>
    private let quiet: UnsafeMutablePointer<Int>  // frames since a sample mattered, a channel
    private let channelCount: Int
    private let gain: Float
    private var at = 0

    init(channelCount: Int) {
        self.channelCount = channelCount
        taps = .allocate(capacity: 144)
        gain = Self.makeTaps(taps)
        memory = .allocate(capacity: channelCount * Self.stride)
        memory.initialize(repeating: 0, count: channelCount * Self.stride)
        quiet = .allocate(capacity: channelCount)
        quiet.initialize(repeating: Self.idleAfter, count: channelCount)
    }

    deinit {
        taps.deallocate()
        memory.deallocate()
        quiet.deallocate()
    }

    /// One sample of one channel; every channel gets its own before ``advance()``.
    /// - Returns: the peak, or 0 where it lies below `threshold`.
    @_noLocks @inline(__always)
    func next(_ x: Float, channel c: Int, above threshold: Float) -> Float {
        let history = memory + c &* Self.stride
        let slot = at & 127
        history[slot] = x
        history[slot &+ 128] = x
        if (x < 0 ? -x : x) * gain >= threshold {
            if quiet[c] >= Self.idleAfter { catchUp(c) }
            quiet[c] = 0
        } else if quiet[c] < Self.idleAfter {
            quiet[c] &+= 1
        }
        if quiet[c] >= Self.idleAfter { return 0 }
        double(c, at)
        let between = peak(history + 256)
        return between < threshold ? 0 : between
    }

    /// Ends a frame.
    @_noLocks @inline(__always)
    mutating func advance() { at = at &+ 1 }

    /// Before a threshold that is lower than those until now.
    @_noLocks
    func wake() {
        for c in 0..<channelCount {
            if quiet[c] >= Self.idleAfter { catchUp(c) }
            quiet[c] = 0
        }
    }

    @_noLocks
    mutating func reset() {
        clearSamples(memory, channelCount &* Self.stride)
        for c in 0..<channelCount { quiet[c] = Self.idleAfter }
        at = 0
    }

    /// Calculates what was left out while nothing mattered, as far as it is needed still.
    @_noLocks
    private func catchUp(_ c: Int) {
        var back = 4
        while back > 0 {
            double(c, at &- back)
            back &-= 1
        }
    }

    /// The sample ``half`` frames before a frame and the one half a frame later.
    @_noLocks @inline(__always)
    private func double(_ c: Int, _ frame: Int) {
        let history = memory + c &* Self.stride
        let from = history + ((frame &- 111) & 127)
        var s0 = SIMD4<Float>(repeating: 0)
        var s1 = SIMD4<Float>(repeating: 0)
        var k = 0
        while k < 112 {
            s0 += load4(taps + k) * load4(from + k)
            s1 += load4(taps + k + 4) * load4(from + k + 4)
            k &+= 8
        }
        let s = s0 + s1
        let doubled = history + 256
        let slot = (2 &* frame) & 15
        let even = from[55]
        let odd = (s[0] + s[1]) + (s[2] + s[3])
        doubled[slot] = even
        doubled[slot &+ 1] = odd
        doubled[slot &+ 16] = even
        doubled[slot &+ 17] = odd
    }

    @_noLocks @inline(__always)
    private func peak(_ doubled: UnsafeMutablePointer<Float>) -> Float {
        let from = doubled + ((2 &* at &- 7) & 15)
        let next = doubled + ((2 &* at &- 6) & 15)
        let phases = taps + 112
        var a = SIMD4<Float>(repeating: 0)
        var b = SIMD4<Float>(repeating: 0)
        var k = 0
        while k < 8 {
            let row = load4(phases + 4 &* k)
            a += row * from[k]
            b += row * next[k]
            k &+= 1
        }
        let first = greater(magnitude(a[0]), magnitude(a[1]), magnitude(a[2]), magnitude(a[3]))
        let second = greater(magnitude(b[0]), magnitude(b[1]), magnitude(b[2]), magnitude(b[3]))
        return greater(first, second)
    }

    private static func makeTaps(_ taps: UnsafeMutablePointer<Float>) -> Float {
        func fill(_ index: (Int) -> Int, _ count: Int, _ half: Int, _ beta: Double, _ distance: (Int) -> Double) -> Double {
            var values = [Double]()
            for k in 0..<count {
                let t = distance(k)
                let x = t / Double(half)
                let window =
                    abs(x) >= 1 ? 0 : Resampler.besselI0(beta * (1 - x * x).squareRoot()) / Resampler.besselI0(beta)
                values.append((abs(t) < 1e-12 ? 1 : earshot_sin(.pi * t) / (.pi * t)) * window)
            }
            let sum = values.reduce(0, +)
            for k in 0..<count { (taps + index(k)).initialize(to: Float(values[k] / sum)) }
            return values.reduce(0) { $0 + abs($1 / sum) }
        }
        let first = fill({ $0 }, 112, half, 3) { 55.5 - Double($0) }
        var second = 1.0
        for phase in 0..<4 {
            second = max(
                second, fill({ 112 + 4 * $0 + phase }, 8, 4, 5) { Double($0 - 3) - Double(phase) / 4 })
        }
        return Float(first * second * 1.001)
    }
}

@_noLocks @inline(__always)
private func magnitude(_ x: Float) -> Float { x < 0 ? -x : x }
@_noLocks @inline(__always)
private func greater(_ a: Float, _ b: Float) -> Float { a > b ? a : b }
@_noLocks @inline(__always)
private func greater(_ a: Float, _ b: Float, _ c: Float, _ d: Float) -> Float { greater(greater(a, b), greater(c, d)) }
