// SPDX-License-Identifier: Apache-2.0

/// A source's path to its target: each step is the mean of the last 29 ms with a triangular window, so that neither position nor
/// speed jumps, and a constant target is reached exactly.
struct SpatialPath: BitwiseCopyable {
    /// The number of steps that are averaged.
    static var length: Int { @_noLocks get { 44 } }
    private let steps: UnsafeMutablePointer<SpatialTarget>  // a ring of the targets of the last steps
    private let weights: UnsafeMutablePointer<Double>  // of each step in the mean, from the newest step on
    private var newest = 0  // the index of the newest step in `steps`
    private var remainingSteps = 0  // until the target is reached
    /// The position at which the path ends.
    private(set) var target = SpatialTarget()

    /// Creates a path without a position; ``jump(to:)`` must follow. Control thread; ``free()`` frees it.
    init() {
        steps = .allocate(capacity: Self.length)
        steps.initialize(repeating: SpatialTarget(), count: Self.length)
        weights = .allocate(capacity: Self.length)
        let half = Double(Self.length + 1) / 2
        for k in 0..<Self.length {
            weights[k] = (half - abs(Double(k + 1) - half)) * 4 / Double(Self.length * (Self.length + 2))
        }
    }

    /// Frees the memory. Control thread.
    func free() {
        steps.deallocate()
        weights.deallocate()
    }

    /// True if steps remain until the target is reached.
    var isMoving: Bool { @_noLocks get { remainingSteps > 0 } }

    /// Sets another target from the next step on.
    @_noLocks
    mutating func turn(to target: SpatialTarget) {
        self.target = target
        remainingSteps = Self.length
    }

    /// Jumps to a position without a ramp.
    @_noLocks
    mutating func jump(to target: SpatialTarget) {
        self.target = target
        remainingSteps = 0
        for k in 0..<Self.length { steps[k] = target }
    }

    /// Advances by one step and returns the position.
    @_noLocks
    mutating func next() -> SpatialTarget {
        newest = newest == 0 ? Self.length &- 1 : newest &- 1
        steps[newest] = target
        if remainingSteps > 0 { remainingSteps &-= 1 }
        if remainingSteps == 0 { return target }
        var mean = SpatialTarget()
        mean.side = 0
        for k in 0..<Self.length {
            let at = newest &+ k
            let step = steps[at < Self.length ? at : at &- Self.length]
            mean.side += step.side * weights[k]
            mean.gain += step.gain * weights[k]
            mean.panned += step.panned * weights[k]
        }
        mean.side = mean.side > 1 ? 1 : mean.side < -1 ? -1 : mean.side
        return mean
    }
}
