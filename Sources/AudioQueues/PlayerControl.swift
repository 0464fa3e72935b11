// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A player's state, under its lock.
struct PlayerControl: ~Copyable, @unchecked Sendable {  // moves with its lock
    /// Seconds of a buffer.
    static let bufferDuration = 0.1
    /// Buffers that are enqueued; as many more are there for each of two seeks in a row.
    static let queuedCount = 3

    var timeline: PlayerTimeline
    var free: [AudioQueueBuffer] = []
    var isPlaying = false
    /// True if the next play begins at the beginning.
    var hasEnded = false
    /// True if the last frame there is has been enqueued.
    var isRead = false
    /// The timeline's position for a frame of a buffer, ascending.
    private var marks: [(sequence: Int, offset: Int, at: Double, speed: Double)] = []
    /// Buffers that are enqueued to be heard, with the items that end in them.
    private var queued: [(id: Int, ended: [Int])] = []

    init(format: AudioFormat) { timeline = PlayerTimeline(format: format) }

    /// Forgets all that was enqueued.
    mutating func forget() {
        marks = []
        queued = []
        isRead = false
        hasEnded = false
    }

    /// Enqueues as much as is wanted.
    /// - Returns: what went wrong, and the items that have ended with nothing of them left to be heard.
    mutating func fillFree(
        _ queue: AudioOutputQueue
    ) -> (failures: [(item: Int, error: AudioPlayerError)], ended: [Int]) {
        var failures: [(item: Int, error: AudioPlayerError)] = []
        var ended: [Int] = []
        if isRead, !timeline.isAtEnd { isRead = false }
        while !isRead, queued.count < Self.queuedCount, let buffer = free.last {
            let fill = timeline.fill(buffer.samples, frameCount: buffer.frameCapacity)
            failures += fill.failures
            buffer.frameCount = fill.frameCount
            isRead = fill.frameCount < buffer.frameCapacity
            guard fill.frameCount > 0 else {
                // The end came with the last frame of the buffer before.
                if let last = queued.indices.last { queued[last].ended += fill.ended } else { ended += fill.ended }
                break
            }
            do throws(AudioQueueError) {
                let sequence = try queue.place(buffer, at: .now)
                marks += fill.marks.map { (sequence, $0.offset, $0.at, $0.speed) }
                queued.append((buffer.id, fill.ended))
                free.removeLast()
            } catch { break }
        }
        return (failures, ended)
    }

    /// A buffer has come home. Returns the items whose end was heard with it.
    mutating func heard(_ buffer: AudioQueueBuffer) -> [Int] {
        guard let index = queued.firstIndex(where: { $0.id == buffer.id }) else { return [] }
        return queued.remove(at: index).ended
    }

    /// Returns the position in the files after so much of a buffer has been heard.
    mutating func position(at place: (sequence: Int, frame: Int)) -> PlayerTimeline.Place {
        while marks.count > 1, (marks[1].sequence, marks[1].offset) <= (place.sequence, place.frame) {
            marks.removeFirst()
        }
        guard let mark = marks.first else { return timeline.reading }
        let isBefore = (place.sequence, place.frame) < (mark.sequence, mark.offset)
        let frames = isBefore || place.sequence != mark.sequence ? 0 : place.frame - mark.offset
        let at = mark.at + Double(frames) * mark.speed
        timeline.pass(at)
        return timeline.place(of: at)
    }

    /// Returns the streams' new events.
    mutating func streamNews(at place: (sequence: Int, frame: Int)) -> [AudioPlayerEvent] {
        let heard = position(at: place)
        var pendingEvents: [AudioPlayerEvent] = []
        for (index, item) in timeline.items.enumerated() {
            guard let stream = item.source as? StreamSource else { continue }
            let state = stream.state
            if state != stream.toldState {
                stream.toldState = state
                pendingEvents.append(.stream(item: index, state))
            }
            if let refusal = stream.takeRefusal() {
                pendingEvents.append(.seekRefused(item: index, .stream(refusal)))
            }
            let dropped = stream.statistics.framesDropped
            if dropped > stream.toldDropped {
                pendingEvents.append(.leftOut(item: index, frameCount: dropped - stream.toldDropped))
                stream.toldDropped = dropped
            }
            guard index == heard.item, let title = stream.title(at: heard.frame), title != stream.toldTitle else {
                continue
            }
            stream.toldTitle = title
            pendingEvents.append(.title(item: index, title))
        }
        return pendingEvents
    }
}
