// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Tables for cutting and reading grains: half a window, and a sinc for positions between samples.
struct GrainTables: ~Copyable {
    private static var tapCount: Int { @_noLocks get { 16 } }
    private static var phaseCount: Int { @_noLocks get { 128 } }
    private static var windowCount: Int { @_noLocks get { 1_024 } }
    // For each phase 16 taps, then their differences to the next phase's.
    private let filters: UnsafeMutablePointer<Float>
    private let half: UnsafeMutablePointer<Float>  // the falling half of a Hann window

    init() {
        filters = .allocate(capacity: 2 * Self.tapCount * Self.phaseCount)
        half = .allocate(capacity: Self.windowCount + 2)
        for i in 0...Self.windowCount + 1 {
            let x = Double(min(i, Self.windowCount)) / Double(Self.windowCount)
            (half + i).initialize(to: Float(0.5 + 0.5 * earshot_cos(Double.pi * x)))
        }
        for phase in 0..<Self.phaseCount {
            let to = filters + phase * 2 * Self.tapCount
            to.initialize(repeating: 0, count: 2 * Self.tapCount)
            Self.fill(to, Double(phase) / Double(Self.phaseCount))
            Self.fill(to + Self.tapCount, Double(phase + 1) / Double(Self.phaseCount))
            for i in 0..<Self.tapCount { to[Self.tapCount + i] -= to[i] }
        }
    }

    deinit {
        filters.deallocate()
        half.deallocate()
    }

    /// Writes the taps of a phase. At phase 0 they are a single 1, so that an unshifted signal is unchanged.
    private static func fill(_ to: UnsafeMutablePointer<Float>, _ fraction: Double) {
        var sum = 0.0
        for i in 0..<tapCount {
            let t = Double(i - tapCount / 2 + 1) - fraction
            let sinc = t.magnitude < 1e-9 ? 1 : earshot_sin(Double.pi * t) / (Double.pi * t)
            let w = t / Double(tapCount / 2)
            let window = w.magnitude < 1 ? 0.5 + 0.5 * earshot_cos(Double.pi * w) : 0
            to[i] = Float(sinc.magnitude < 1e-12 ? 0 : sinc * window)
            sum += Double(to[i])
        }
        for i in 0..<tapCount { to[i] /= Float(sum) }
    }

    /// Returns the signal of a ring's first channel at a position between frames.
    @_noLocks @inline(__always)
    func value(_ ring: borrowing MirrorRing, at position: Double) -> Float {
        let shifted = position + 1e-6
        let wholeFrame = wholeBelow(shifted)
        let phase = Float(max(0, shifted - Double(wholeFrame) - 1e-6)) * Float(Self.phaseCount)
        let index = min(Int(phase), Self.phaseCount &- 1)
        let phasePart = SIMD4<Float>(repeating: phase - Float(index))
        let x = ring.samples(from: wholeFrame &- Self.tapCount / 2 &+ 1, channel: 0)
        let f = UnsafePointer(filters + 2 &* Self.tapCount &* index)
        var sum = load4(x) * (load4(f) + phasePart * load4(f + 16))
        sum += load4(x + 4) * (load4(f + 4) + phasePart * load4(f + 20))
        sum += load4(x + 8) * (load4(f + 8) + phasePart * load4(f + 24))
        sum += load4(x + 12) * (load4(f + 12) + phasePart * load4(f + 28))
        return (sum[0] + sum[1]) + (sum[2] + sum[3])
    }

    /// Returns the falling half of a Hann window at the part `x` of its length, 0...1.
    @_noLocks @inline(__always)
    func window(_ x: Float) -> Float {
        let place = x * Float(Self.windowCount)
        let i = min(Int(place), Self.windowCount)
        return half[i] + (place - Float(i)) * (half[i &+ 1] - half[i])
    }
}
