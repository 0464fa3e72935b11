// SPDX-License-Identifier: Apache-2.0

/// A short windowed piece of sound at a new position.
struct VoiceGrain: BitwiseCopyable {
    /// The middle of the output grain, on the time axis of the input.
    var centre: Double
    /// The middle of the source grain, on the time axis of the input.
    var source: Double
    /// The frames from the output grain's start to its middle.
    var left: Double
    /// The frames from the output grain's middle to its end.
    var right: Double
    /// The gain factor.
    var gain: Float

    @_noLocks
    init(centre: Double, source: Double, left: Double, right: Double, gain: Float) {
        self.centre = centre
        self.source = source
        self.left = left
        self.right = right
        self.gain = gain
    }
}

/// One train of grains: the voice itself, an added voice, or the whisper's breath.
///
/// Grains are added in the order in which they were made, so that sums are rounded alike for any division into blocks.
struct VoiceTrain: ~Copyable {
    /// The position of the last grain, on the time axis of the input.
    var last = 0.0
    /// The position of the last grain's middle, its loudest point, on the time axis of the input.
    var lastCentre = 0.0
    /// The position of the next voiced grain, on the time axis of the input.
    var due = 0.0
    /// The next position at which the sound is tested for a voice, on the time axis of the input.
    var probe = 0.0
    /// True if the last grain was voiced.
    var wasVoiced = false
    /// True if grains are being made.
    var runs = false
    private let grains: UnsafeMutablePointer<VoiceGrain>  // a ring
    private let capacity = 256
    private var first = 0  // the number of the oldest grain
    private var end = 0  // the number of the next grain to append

    init() {
        grains = .allocate(capacity: capacity)
        grains.initialize(
            repeating: VoiceGrain(centre: 0, source: 0, left: 1, right: 1, gain: 0), count: capacity)
    }

    deinit { grains.deallocate() }

    /// Adds a grain, unless 256 are stored.
    @_noLocks
    mutating func append(_ grain: VoiceGrain) {
        if end &- first == capacity { return }
        grains[end & (capacity &- 1)] = grain
        end &+= 1
    }

    /// Sets the length of the last grain's right half, in frames; does nothing if no grain is stored.
    @_noLocks
    mutating func closeLast(_ right: Double) {
        if end == first { return }
        grains[(end &- 1) & (capacity &- 1)].right = right
    }

    /// Adds the sound of the grains in `count` frames to an output.
    /// - Parameters:
    ///   - ring: the source of the grains.
    ///   - time: the first frame, on the time axis of the input.
    ///   - output: `count` samples to which the sound is added.
    @_noLocks
    func add(
        _ ring: borrowing MirrorRing, _ tables: borrowing GrainTables, from time: Int,
        to output: UnsafeMutablePointer<Float>, count: Int
    ) {
        var k = first
        while k < end {
            let g = grains[k & (capacity &- 1)]
            k &+= 1
            let start = max(0, wholeBelow(g.centre - g.left) &+ 1 &- time)
            let stop = min(count, wholeBelow(g.centre + g.right) &+ 1 &- time)
            if start >= stop || g.gain == 0 { continue }
            for i in start..<stop {
                let u = Double(time &+ i) - g.centre
                output[i] += window(g, u, tables) * tables.value(ring, at: g.source + u)
            }
        }
    }

    /// Adds the windows of the grains, times their gains, instead of their sound.
    @_noLocks
    func addWindows(
        _ tables: borrowing GrainTables, from time: Int, to output: UnsafeMutablePointer<Float>, count: Int
    ) {
        var k = first
        while k < end {
            let g = grains[k & (capacity &- 1)]
            k &+= 1
            let start = max(0, wholeBelow(g.centre - g.left) &+ 1 &- time)
            let stop = min(count, wholeBelow(g.centre + g.right) &+ 1 &- time)
            if start >= stop || g.gain == 0 { continue }
            for i in start..<stop { output[i] += window(g, Double(time &+ i) - g.centre, tables) }
        }
    }

    @_noLocks @inline(__always)
    private func window(_ g: VoiceGrain, _ u: Double, _ tables: borrowing GrainTables) -> Float {
        tables.window(min(1, Float(u < 0 ? -u / g.left : u / g.right))) * g.gain
    }

    /// Forgets the grains that end before `time`.
    @_noLocks
    mutating func drop(before time: Int) {
        while first < end {
            let g = grains[first & (capacity &- 1)]
            if g.centre + g.right >= Double(time) { return }
            first &+= 1
        }
    }

    @_noLocks
    mutating func reset() {
        last = 0
        lastCentre = 0
        due = 0
        probe = 0
        wasVoiced = false
        runs = false
        first = 0
        end = 0
    }
}
