import EarshotAudioBase
import Synchronization

/// A buffer on its way to the render thread. Its samples live as long as the queue.
struct QueuedBuffer: BitwiseCopyable, @unchecked Sendable {  // one thread has it at a time
    var samples: Channels
    var frameCount: Int
    var id: Int
    /// Counted from 1, in the order of enqueuing.
    var sequence: Int
    /// The engine's frame at which the first is to be heard; `Int64.min` for behind what was before.
    var start: Int64
}

/// What the render thread tells.
struct QueueRecord: BitwiseCopyable, Sendable {
    enum Kind: BitwiseCopyable { case started, stopped, underrun, overrun, late, skipped }
    var kind: Kind
    var time: Int64 = 0
    var frameCount = 0
    /// Frames before it; of an end the run that ended.
    var position = 0

    @_noLocks
    init(_ kind: Kind, time: Int64 = 0, frameCount: Int = 0, position: Int = 0) {
        self.kind = kind
        self.time = time
        self.frameCount = frameCount
        self.position = position
    }
}

/// What a queue's two sides share: atomics.
final class QueueControls: Sendable {
    struct Handle: @unchecked Sendable, BitwiseCopyable {  // atomics
        fileprivate let values: UnsafeMutablePointer<Atomic<Int>>

        /// Which of its runs the queue is in; 0 while it stands still, of a queue that records minus the run that was halted.
        var run: Int { @_noLocks get { values[0].load(ordering: .acquiring) } }
        /// The frame, at the queue's rate, before which it does nothing.
        var start: Int64 { @_noLocks get { frame(Int64(values[1].load(ordering: .relaxed))) } }
        /// Buffers up to this one are to be handed back unheard.
        var flushed: Int { @_noLocks get { values[2].load(ordering: .acquiring) } }
        /// The last buffer before the end; `Int.max` while there is no end.
        var end: Int { @_noLocks get { values[3].load(ordering: .acquiring) } }
        /// A factor of speed in 2^-32; 0 where it is not to be changed.
        var rate: Int { @_noLocks get { values[4].load(ordering: .relaxed) } }

        /// One of the engine's frames at the queue's rate; `Int64.min` stays.
        @_noLocks
        func frame(_ time: Int64) -> Int64 {
            if time == .min { return time }
            let ratio = Double(bitPattern: UInt64(bitPattern: Int64(values[12].load(ordering: .relaxed))))
            let frames = Double(time) * ratio
            return Int64(frames < 0 ? frames - 0.5 : frames + 0.5)
        }

        @_noLocks
        func endRun(_ run: Int) {
            _ = values[0].compareExchange(expected: run, desired: 0, ordering: .acquiringAndReleasing)
        }
        @_noLocks
        func add(_ frames: Int, to counter: Counter) {
            if frames != 0 { values[5 &+ counter.rawValue].add(frames, ordering: .relaxed) }
        }
        /// The frame that comes next.
        @_noLocks
        func report(_ next: Int64) { values[10].store(Int(next), ordering: .releasing) }
        /// How often the engine was started anew.
        @_noLocks
        func report(starts: Int) { values[11].store(starts, ordering: .releasing) }
        /// Which buffer is heard, and how much of it was.
        @_noLocks
        func report(sequence: Int, frame: Int) {
            values[10].store(sequence &<< 24 | (frame & 0xFF_FFFF), ordering: .releasing)
        }
    }

    /// Numbers that the render thread counts up.
    enum Counter: Int { case played, underrun, overrun, late, skipped }

    let handle: Handle
    private static let count = 13

    init() {
        handle = Handle(values: .allocate(capacity: Self.count))
        for i in 0..<Self.count { (handle.values + i).initialize(to: Atomic(0)) }
        handle.values[3].store(.max, ordering: .relaxed)
        setRatio(1)
    }

    deinit {
        handle.values.deinitialize(count: Self.count)
        handle.values.deallocate()
    }

    /// Frames of the queue for each of the engine's.
    func setRatio(_ ratio: Double) {
        handle.values[12].store(Int(Int64(bitPattern: ratio.bitPattern)), ordering: .relaxed)
    }
    /// Begins a run, which does nothing before `start`, one of the engine's frames.
    func begin(run: Int, at start: Int64) {
        handle.values[1].store(Int(clamping: start), ordering: .relaxed)
        handle.values[0].store(run, ordering: .releasing)
    }
    /// Ends a run of a queue that records.
    func halt(_ run: Int) { handle.values[0].store(-run, ordering: .releasing) }
    func halt() { handle.values[0].store(0, ordering: .releasing) }
    func flush(to sequence: Int) { handle.values[2].store(sequence, ordering: .releasing) }
    func end(at sequence: Int) { handle.values[3].store(sequence, ordering: .releasing) }
    func setRate(_ rate: Float) {
        handle.values[4].store(Int(Double(rate) * 0x1p32), ordering: .relaxed)
    }
    /// The frame that comes next, of a queue that records; 0 before the first.
    var next: Int { handle.values[10].load(ordering: .acquiring) }
    /// How often the engine was started anew since a queue that records saw it first.
    var starts: Int { handle.values[11].load(ordering: .acquiring) }
    /// The buffer that is heard, and how much of it was.
    var place: (sequence: Int, frame: Int) {
        let value = handle.values[10].load(ordering: .acquiring)
        return (value >> 24, value & 0xFF_FFFF)
    }
    subscript(counter: Counter) -> Int { handle.values[5 + counter.rawValue].load(ordering: .acquiring) }
}
