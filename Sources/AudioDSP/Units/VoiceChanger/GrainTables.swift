import CRealtime

/// What grains are cut and read with: a window, and sinc filters at several cutoffs.
struct GrainTables: ~Copyable {
    /// Filter taps of one phase.
    static var tapCount: Int { @_noLocks get { 16 } }
    /// Phases between two samples.
    static var phaseCount: Int { @_noLocks get { 128 } }
    /// Cutoffs, a minor third apart.
    static var cutoffCount: Int { @_noLocks get { 5 } }
    private static var windowCount: Int { @_noLocks get { 1_024 } }
    private static var cutoffStride: Int { @_noLocks get { 2 &* tapCount &* phaseCount } }
    private let filters: UnsafeMutablePointer<Float>  // for each phase 16 taps, then how they differ from the next phase's
    private let windows: UnsafeMutablePointer<Float>  // half a Hann window

    init() {
        filters = .allocate(capacity: Self.cutoffCount * Self.cutoffStride)
        windows = .allocate(capacity: Self.windowCount + 2)
        for i in 0...Self.windowCount + 1 {
            let x = Double(min(i, Self.windowCount)) / Double(Self.windowCount)
            let hann = 0.5 + 0.5 * earshot_cos(Double.pi * x)
            (windows + i).initialize(to: Float(hann))
        }
        for k in 0..<Self.cutoffCount {
            // Below what compression would fold back; at 1 the taps at phase 0 are a single 1.
            let cutoff = earshot_exp(-0.25 * 0.693_147_180_559_945_3 * Double(k))
            for phase in 0..<Self.phaseCount {
                let to = filters + (k * Self.cutoffStride + phase * 2 * Self.tapCount)
                to.initialize(repeating: 0, count: 2 * Self.tapCount)
                Self.fill(to, cutoff, Double(phase) / Double(Self.phaseCount))
                Self.fill(to + Self.tapCount, cutoff, Double(phase + 1) / Double(Self.phaseCount))
                for i in 0..<Self.tapCount { to[Self.tapCount + i] -= to[i] }
            }
        }
    }

    deinit {
        filters.deallocate()
        windows.deallocate()
    }

    private static func fill(_ to: UnsafeMutablePointer<Float>, _ cutoff: Double, _ fraction: Double) {
        var sum = 0.0
        for i in 0..<tapCount {
            let t = Double(i - tapCount / 2 + 1) - fraction
            let x = Double.pi * cutoff * t
            let sinc = x.magnitude < 1e-9 ? 1 : earshot_sin(x) / x
            let w = t / Double(tapCount / 2)
            let window = w.magnitude < 1 ? 0.5 + 0.5 * earshot_cos(Double.pi * w) : 0
            to[i] = Float(sinc.magnitude < 1e-12 ? 0 : sinc * window)
            sum += Double(to[i])
        }
        for i in 0..<tapCount { to[i] /= Float(sum) }
    }

    /// The filters for what is read `step` samples at a time.
    @_noLocks
    static func cutoff(for step: Double) -> Int {
        if step <= 1.001 { return 0 }
        return min(cutoffCount &- 1, wholeBelow(earshot_log(step) / 0.693_147_180_559_945_3 * 4 + 0.95))
    }

    /// A ring's signal between samples.
    @_noLocks @inline(__always)
    func value(_ ring: borrowing MirrorRing, at position: Double) -> Float {
        let whole = wholeBelow(position)
        return value(ring.samples(from: whole &- 8, channel: 0) + 8, at: position - Double(whole), cutoff: 0)
    }

    /// A signal between samples, of which 7 before and 9 behind can be read.
    @_noLocks @inline(__always)
    func value(_ signal: UnsafePointer<Float>, at position: Double, cutoff: Int) -> Float {
        let shifted = position + 1e-6
        let whole = wholeBelow(shifted)
        let phase = Float(max(0, shifted - Double(whole) - 1e-6)) * Float(Self.phaseCount)
        let index = min(Int(phase), Self.phaseCount &- 1)
        let part = SIMD4<Float>(repeating: phase - Float(index))
        let x = signal + (whole &- Self.tapCount / 2 &+ 1)
        let f = UnsafePointer(filters + (cutoff &* Self.cutoffStride &+ index &* 2 &* Self.tapCount))
        var sum = load4(x) * (load4(f) + part * load4(f + 16))
        sum += load4(x + 4) * (load4(f + 4) + part * load4(f + 20))
        sum += load4(x + 8) * (load4(f + 8) + part * load4(f + 24))
        sum += load4(x + 12) * (load4(f + 12) + part * load4(f + 28))
        return (sum[0] + sum[1]) + (sum[2] + sum[3])
    }

    /// A falling half window at 0...1 of its length.
    @_noLocks @inline(__always)
    func window(_ x: Float) -> Float {
        let at = x * Float(Self.windowCount)
        let i = min(Int(at), Self.windowCount)
        let p = windows + i
        return p[0] + (at - Float(i)) * (p[1] - p[0])
    }
}
