// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A player's state, guarded by the player's lock.
struct PlayerControl: ~Copyable, @unchecked Sendable {  // moves with its lock
    /// The length of a buffer in seconds.
    static let bufferDuration = 0.1
    /// The number of buffers to keep enqueued. Each of two successive seeks may need as many again.
    static let queuedCount = 3

    var timeline: PlayerTimeline
    var free: [AudioQueueBuffer] = []
    var isPlaying = false
    /// True if the next play starts from the beginning.
    var hasEnded = false
    /// True if the last frame of the playlist has been enqueued.
    var isRead = false
    /// The timeline's position `at` and its speed from the frame `offset` of the buffer `sequence` on, ascending.
    private var marks: [(sequence: Int, offset: Int, at: Double, speed: Double)] = []
    /// The enqueued buffers, with the items that end in each.
    private var queued: [(id: Int, ended: [Int])] = []

    init(format: AudioFormat) { timeline = PlayerTimeline(format: format) }

    /// Forgets all enqueued buffers.
    mutating func forget() {
        marks = []
        queued = []
        isRead = false
        hasEnded = false
    }

    /// Fills and enqueues buffers until the wanted number is enqueued.
    /// - Returns: errors, and the items that ended without a frame left to hear.
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
                // The item's last frame was in the previous buffer.
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

    /// Handles a played buffer. Returns the items that ended in it.
    mutating func heard(_ buffer: AudioQueueBuffer) -> [Int] {
        guard let index = queued.firstIndex(where: { $0.id == buffer.id }) else { return [] }
        return queued.remove(at: index).ended
    }

    /// Returns the place in the items at a frame of a buffer. Counts the frames heard until then.
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

    /// Returns the new events of the streams since the last call.
    mutating func streamEvents(at place: (sequence: Int, frame: Int)) -> [AudioPlayerEvent] {
        let heard = position(at: place)
        var pendingEvents: [AudioPlayerEvent] = []
        for (index, item) in timeline.items.enumerated() {
            guard let stream = item.source as? StreamSource else { continue }
            let state = stream.state
            if state != stream.reportedState {
                stream.reportedState = state
                pendingEvents.append(.stream(item: index, state))
            }
            if let refusal = stream.takeRefusal() {
                pendingEvents.append(.seekRefused(item: index, .stream(refusal)))
            }
            let dropped = stream.statistics.framesDropped
            if dropped > stream.reportedDropped {
                pendingEvents.append(.leftOut(item: index, frameCount: dropped - stream.reportedDropped))
                stream.reportedDropped = dropped
            }
            guard index == heard.item, let title = stream.title(at: heard.frame), title != stream.reportedTitle else {
                continue
            }
            stream.reportedTitle = title
            pendingEvents.append(.title(item: index, title))
        }
        return pendingEvents
    }
}
