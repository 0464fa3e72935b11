import EarshotAudioBase
import Synchronization

/// What a player's two sides share.
final class PlayerControls: Sendable {
    struct Handle: @unchecked Sendable, BitwiseCopyable {  // atomics
        fileprivate let values: UnsafeMutablePointer<Atomic<Int>>
        fileprivate let held: UnsafeMutablePointer<HeldMark>
        /// Whether it is to sound.
        var isPlaying: Bool { @_noLocks get { values[0].load(ordering: .acquiring) != 0 } }
        /// The engine's frame counter before which it does not.
        var start: Int64 { @_noLocks get { Int64(values[1].load(ordering: .relaxed)) } }
        /// All frames before this one are stale.
        var flushed: Int { @_noLocks get { values[2].load(ordering: .acquiring) } }
        /// The frame behind the last that will come; `Int.max` while more will.
        var end: Int { @_noLocks get { values[3].load(ordering: .acquiring) } }

        @_noLocks
        func report(position: Int) { values[4].store(position, ordering: .releasing) }
        @_noLocks
        func lose(_ frames: Int) { values[5].add(frames, ordering: .relaxed) }
    }

    let handle: Handle
    private static let count = 6

    init() {
        handle = Handle(values: .allocate(capacity: Self.count), held: .allocate(capacity: 1))
        handle.held.initialize(to: HeldMark())
        for i in 0..<Self.count { (handle.values + i).initialize(to: Atomic(0)) }
    }

    deinit {
        handle.values.deinitialize(count: Self.count)
        handle.values.deallocate()
        handle.held.deallocate()
    }

    func play(from start: Int64) {
        handle.values[1].store(Int(clamping: boundedSampleTime(start)), ordering: .relaxed)
        handle.values[0].store(1, ordering: .releasing)
    }
    func halt() { handle.values[0].store(0, ordering: .releasing) }
    func flush(to position: Int) { handle.values[2].store(position, ordering: .releasing) }
    func end(at position: Int) { handle.values[3].store(position, ordering: .releasing) }
    /// Frames played or left out so far, of all that were ever put into the ring.
    var position: Int { handle.values[4].load(ordering: .acquiring) }
    /// Frames that came too late and were left out.
    var lost: Int { handle.values[5].load(ordering: .relaxed) }
}

/// Where something scheduled begins.
struct PlayerMark: BitwiseCopyable, Sendable {
    /// Its first frame in the ring.
    var position: Int
    /// The engine's frame counter; `Int64.min` for right behind what was before.
    var start: Int64
}

/// The mark that the render side has taken last. With the controls, as it outlives the node's state.
private struct HeldMark: BitwiseCopyable {
    var mark = PlayerMark(position: -1, start: .min)
    var isValid = false
}

/// Plays a ring: to the sample, without a click where it is paused or something else takes over.
struct PlayerState: ~Copyable {
    private let ring: AudioRing.Reader
    private let marks: MessageQueue<PlayerMark>.Reader
    private let controls: PlayerControls.Handle
    private let ratio: Double  // own rate over the engine's
    private let fadeLength: Int
    private let held: UnsafeMutablePointer<HeldMark>
    private var mark: PlayerMark {
        @_noLocks get { held.pointee.mark }
        @_noLocks nonmutating set { held.pointee.mark = newValue }
    }
    private var hasMark: Bool {
        @_noLocks get { held.pointee.isValid }
        @_noLocks nonmutating set { held.pointee.isValid = newValue }
    }
    private var position: Int
    private var debt = 0
    private var fade = 0  // 0 is silent, `fadeLength` is full

    init(
        _ ring: AudioRing, marks: MessageQueue<PlayerMark>, controls: PlayerControls, sampleRate: Double,
        engineRate: Double
    ) {
        self.ring = ring.reader
        self.marks = marks.reader
        self.controls = controls.handle
        held = controls.handle.held
        ratio = sampleRate / engineRate
        fadeLength = max(1, Int(sampleRate * 0.01))
        position = ring.reader.offeredFrames - ring.reader.heldFrames
    }

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: PlayerState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    @_noLocks
    mutating func process(_ call: RenderCall) {
        guard call.frameCount > 0 else { return }
        let bus = call.outputs[0]
        bus.silence(call.frameCount)
        var at = 0
        while at < call.frameCount {
            at &+= step(bus, at, call.frameCount &- at, call.sampleTime &+ Int64(at))
        }
        controls.report(position: position)
    }

    /// Renders some frames of the block; returns how many.
    @_noLocks
    private mutating func step(_ bus: RenderBus, _ at: Int, _ room: Int, _ time: Int64) -> Int {
        let flushed = controls.flushed
        let isStale = flushed > position
        let start = own(controls.start)
        let sounds = controls.isPlaying && !isStale && time >= start
        if !sounds, fade == 0 {
            if isStale { leaveOut(flushed &- position) }
            if flushed > position || !controls.isPlaying { return room }
            if time < start { return start &- time < Int64(room) ? Int(start &- time) : room }
            resume()
            return 0
        }
        takeMark()
        var count = room
        if hasMark, mark.position == position {
            if let wait = untilMark(time, room) { return wait }
            hasMark = false
            takeMark()
        }
        if hasMark, mark.position > position, mark.position &- position < count { count = mark.position &- position }
        if !sounds, fade < count { count = fade }
        return play(bus, at, count, towards: sounds)
    }

    /// Going on in the middle of something fades in; nothing is rendered yet.
    @_noLocks
    private mutating func resume() {
        takeMark()
        fade = hasMark && mark.position == position ? fadeLength : 1
    }

    /// Frames of silence before what begins here, or nil where it is due. What is overdue is left out up to now.
    @_noLocks
    private mutating func untilMark(_ time: Int64, _ room: Int) -> Int? {
        fade = fadeLength
        guard mark.start != .min else { return nil }
        let start = own(mark.start)
        if start > time {
            debt = 0
            return start &- time < Int64(room) ? Int(start &- time) : room
        }
        debt = Int(time &- start)
        return nil
    }

    @_noLocks
    private mutating func play(_ bus: RenderBus, _ at: Int, _ count: Int, towards sounds: Bool) -> Int {
        if debt > 0 {
            let before = position
            leaveOut(debt)
            debt &-= position &- before
            controls.lose(position &- before)
        }
        let read = ring.read(bus.channels, frameCount: count, offset: at).frameCount
        position &+= read
        if read > 0 { bus.isSilent = false }
        if read < count, controls.end > position { debt &+= count &- read }
        shape(bus.channels, at, read, sounds)
        return count
    }

    @_noLocks
    private mutating func shape(_ channels: Channels, _ at: Int, _ count: Int, _ sounds: Bool) {
        let first = fade
        for c in 0..<channels.count {
            fade = first
            for i in 0..<count {
                if sounds, fade < fadeLength { fade &+= 1 } else if !sounds, fade > 0 { fade &-= 1 }
                if fade < fadeLength { channels[c][at &+ i] *= Float(fade) / Float(fadeLength) }
            }
        }
        if count == 0, !sounds { fade = 0 }
    }

    @_noLocks
    private mutating func leaveOut(_ count: Int) {
        position &+= ring.discard(count)
        while hasMark, mark.position < position {
            hasMark = false
            takeMark()
        }
    }

    @_noLocks
    private mutating func takeMark() {
        while !hasMark, let next = marks.pop() {
            mark = next
            hasMark = next.position >= position
        }
    }

    @_noLocks
    private func own(_ time: Int64) -> Int64 { time == .min ? .min : Int64(Double(time) * ratio) }
}
