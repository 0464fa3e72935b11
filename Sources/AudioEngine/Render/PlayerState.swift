// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The beginning of a scheduled item.
struct PlayerMark: BitwiseCopyable, Sendable {
    /// The item's first frame in the ring.
    var position: Int
    /// The start on the engine's frame counter; `Int64.min` for directly after the previous item.
    var start: Int64
}

/// The beginnings of a player's items, on their way to the render thread.
final class PlayerMarks: @unchecked Sendable {  // `held` is the render thread's alone
    let queue = MessageQueue<PlayerMark>(capacity: 64)
    /// Outlives the node's state.
    fileprivate let held: UnsafeMutablePointer<HeldMark>

    init() {
        held = .allocate(capacity: 1)
        held.initialize(to: HeldMark())
    }

    deinit { held.deallocate() }
}

/// The last mark that the render thread has received.
private struct HeldMark: BitwiseCopyable {
    var mark = PlayerMark(position: -1, start: .min)
    var isValid = false
}

/// Plays a ring, to the exact frame, and without a click when paused or replaced.
struct PlayerState: ~Copyable {
    private let ring: AudioRing.Reader
    private let marks: MessageQueue<PlayerMark>.Reader
    private let controls: RunControls.Handle
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
    private var fade: EdgeFade

    init(_ ring: AudioRing, marks: PlayerMarks, controls: RunControls, sampleRate: Double) {
        self.ring = ring.reader
        self.marks = marks.queue.reader
        self.controls = controls.handle
        held = marks.held
        fade = EdgeFade(sampleRate: sampleRate)
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
        controls.report(Int64(position))
    }

    /// Renders some frames of the block. Returns their number.
    @_noLocks
    private mutating func step(_ bus: RenderBus, _ at: Int, _ room: Int, _ time: Int64) -> Int {
        let flushed = controls.flushed
        let isStale = flushed > position
        let start = controls.start
        let isPlaying = controls.run != 0
        let sounds = isPlaying && !isStale && time >= start
        if !sounds, fade.isSilent {
            if isStale { leaveOut(flushed &- position) }
            if flushed > position || !isPlaying { return room }
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
        if !sounds, fade.level < count { count = fade.level }
        return play(bus, at, count, towards: sounds)
    }

    /// Fades in after a pause in the middle of an item. Renders nothing yet.
    @_noLocks
    private mutating func resume() {
        takeMark()
        fade.begin(inMidst: !(hasMark && mark.position == position))
    }

    /// Returns the frames of silence before the next item, or nil if it is due. Skips the frames that are overdue.
    @_noLocks
    private mutating func untilMark(_ time: Int64, _ room: Int) -> Int? {
        fade.begin(inMidst: false)
        guard mark.start != .min else { return nil }
        let start = controls.frame(mark.start)
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
            controls.add(position &- before, to: .late)
        }
        let read = ring.read(bus.channels, frameCount: count, offset: at).frameCount
        position &+= read
        if read > 0 { bus.isSilent = false }
        if read < count, controls.end > position { debt &+= count &- read }
        fade.scale(bus.channels, from: at, frameCount: read, rising: sounds)
        if read == 0, !sounds { fade.silence() }
        return count
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
}
