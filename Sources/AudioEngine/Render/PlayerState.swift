// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The beginning of a scheduled item.
struct PlayerMark: BitwiseCopyable, Sendable {
    /// The number of frames that the ring received before the item's first frame.
    var position: Int
    /// The item's start on the engine's frame counter; `Int64.min` for directly after the previous item.
    var start: Int64
}

/// Passes the beginnings of a player's items to the render thread.
final class PlayerMarks: @unchecked Sendable {  // `lastMark` is the render thread's alone
    let queue = MessageQueue<PlayerMark>(capacity: 64)
    /// The last mark that the render thread received. It outlives the node's state.
    fileprivate let lastMark: UnsafeMutablePointer<HeldMark>

    init() {
        lastMark = .allocate(capacity: 1)
        lastMark.initialize(to: HeldMark())
    }

    deinit { lastMark.deallocate() }
}

/// The last mark that the render thread received; invalid once it is in use or passed.
private struct HeldMark: BitwiseCopyable {
    var mark = PlayerMark(position: -1, start: .min)
    var isValid = false
}

/// Plays a ring from the exact frame of each item's start on, and without a click when the player is paused or items are
/// replaced.
struct PlayerState: ~Copyable {
    private let ring: AudioRing.Reader
    private let marks: MessageQueue<PlayerMark>.Reader
    private let controls: RunControls.Handle
    private let lastMark: UnsafeMutablePointer<HeldMark>
    private var mark: PlayerMark {
        @_noLocks get { lastMark.pointee.mark }
        @_noLocks nonmutating set { lastMark.pointee.mark = newValue }
    }
    private var hasMark: Bool {
        @_noLocks get { lastMark.pointee.isValid }
        @_noLocks nonmutating set { lastMark.pointee.isValid = newValue }
    }
    private var position: Int
    private var overdueFrameCount = 0
    private var fade: EdgeFade

    init(_ ring: AudioRing, marks: PlayerMarks, controls: RunControls, sampleRate: Double) {
        self.ring = ring.reader
        self.marks = marks.queue.reader
        self.controls = controls.handle
        lastMark = marks.lastMark
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

    /// Renders at most `room` frames of the block from frame `at` on. Returns the number of frames rendered, 0 at a start.
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

    /// Prepares a fade-in if the player starts in the middle of an item. Renders no frames.
    @_noLocks
    private mutating func resume() {
        takeMark()
        fade.begin(inMidst: !(hasMark && mark.position == position))
    }

    /// Returns the frames of silence before the next item; nil if the item is due. Notes the overdue frames of a late item, to be
    /// skipped.
    @_noLocks
    private mutating func untilMark(_ time: Int64, _ room: Int) -> Int? {
        fade.begin(inMidst: false)
        guard mark.start != .min else { return nil }
        let start = controls.frame(mark.start)
        if start > time {
            overdueFrameCount = 0
            return start &- time < Int64(room) ? Int(start &- time) : room
        }
        overdueFrameCount = Int(time &- start)
        return nil
    }

    @_noLocks
    private mutating func play(_ bus: RenderBus, _ at: Int, _ count: Int, towards sounds: Bool) -> Int {
        if overdueFrameCount > 0 {
            let previousPosition = position
            leaveOut(overdueFrameCount)
            overdueFrameCount &-= position &- previousPosition
            controls.add(position &- previousPosition, to: .late)
        }
        let readCount = ring.read(bus.channels, frameCount: count, offset: at).frameCount
        position &+= readCount
        if readCount > 0 { bus.isSilent = false }
        if readCount < count, controls.end > position { overdueFrameCount &+= count &- readCount }
        fade.scale(bus.channels, from: at, frameCount: readCount, rising: sounds)
        if readCount == 0, !sounds { fade.silence() }
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
