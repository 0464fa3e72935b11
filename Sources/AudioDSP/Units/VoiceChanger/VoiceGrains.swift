/// A short piece of sound under a window, moved to a new place and stretched or compressed there.
struct VoiceGrain: BitwiseCopyable {
    /// Where its middle sounds, on the time axis of the input.
    var centre: Double
    /// Where its middle is read, in frames of the ring that it is read from.
    var source: Double
    /// Frames of the ring for each frame out.
    var step: Double
    /// Frames from its start to its middle.
    var left: Double
    /// Frames from its middle to its end.
    var right: Double
    /// Factor.
    var gain: Float
    /// Which filters it is read with.
    var cutoff: Int
    /// Whether it is noise, which adds by power and not by amplitude.
    var addsByPower: Bool
}

/// One train of grains: the voice itself, an added voice, or the whisper.
///
/// Grains lie in the order in which they were made and are added in it, so that sums round alike however blocks are cut.
struct VoiceTrain: ~Copyable {
    /// Where the last grain's middle is, on the time axis of the input.
    var last = 0.0
    /// Where the next voiced grain is due.
    var due = 0.0
    /// Where to look next whether the sound is still voiced.
    var probe = 0.0
    /// Whether the last grain was voiced.
    var wasVoiced = false
    /// Whether grains are being made.
    var runs = false
    private let grains: UnsafeMutablePointer<VoiceGrain>
    private let capacity = 256
    private var first = 0
    private var end = 0

    init() {
        grains = .allocate(capacity: capacity)
        grains.initialize(
            repeating: VoiceGrain(
                centre: 0, source: 0, step: 1, left: 1, right: 1, gain: 0, cutoff: 0, addsByPower: false),
            count: capacity)
    }

    deinit { grains.deallocate() }

    /// Adds a grain; one too many is left out.
    @_noLocks
    mutating func append(_ grain: VoiceGrain) {
        if end &- first == capacity { return }
        grains[end & (capacity &- 1)] = grain
        end &+= 1
    }

    /// Gives the last grain another right half, if its middle is still to come.
    @_noLocks
    mutating func closeLast(_ right: Double, addsByPower: Bool) {
        if end == first { return }
        grains[(end &- 1) & (capacity &- 1)].right = right
    }

    /// Adds what sounds in a stretch of time.
    /// - Parameters:
    ///   - time: the first frame, on the time axis of the input.
    ///   - output: `count` samples to add to.
    @_noLocks
    func add(
        _ ring: borrowing MirrorRing, _ channel: Int, _ tables: borrowing GrainTables, from time: Int,
        to output: UnsafeMutablePointer<Float>, count: Int
    ) {
        var k = first
        while k < end {
            let g = grains[k & (capacity &- 1)]
            k &+= 1
            let start = max(0, wholeBelow(g.centre - g.left) &+ 1 &- time)
            let stop = min(count, wholeBelow(g.centre + g.right) &+ 1 &- time)
            if start >= stop || g.gain == 0 { continue }
            let perLeft = Float(1 / g.left)
            let perRight = Float(1 / g.right)
            for i in start..<stop {
                let u = Double(time &+ i) - g.centre
                let x = u < 0 ? Float(-u) * perLeft : Float(u) * perRight
                let w = tables.window(min(1, x), powerComplementary: g.addsByPower) * g.gain
                output[i] += w * tables.value(ring, channel, at: g.source + u * g.step, cutoff: g.cutoff)
            }
        }
    }

    /// Forgets the grains that are over before `time`.
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
        due = 0
        probe = 0
        wasVoiced = false
        runs = false
        first = 0
        end = 0
    }
}
