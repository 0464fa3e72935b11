// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Maps the frames of a take to the positions in the song that the singer heard at their time.
///
/// A captured frame entered the microphone an input latency before its block; the song's frame that left the loudspeaker at this
/// time was played an output latency earlier. The network and its clock have no part in it. All members are for one thread.
package struct TakeMapper: Sendable {
    /// An entry of the take's map.
    package enum Entry: Hashable, Sendable {
        case piece(SongMap.Piece)
        case gap(SongMap.Gap)
    }

    /// The maximum number of captured blocks that wait for the blocks that were played at their time.
    private static let waitingLimit = 2_048

    private let sampleRate: Double
    private var heard: HeardSong
    private var captured: DeviceTimeline<Int64>
    private var waiting: [DeviceTimeline<Int64>.Timed] = []
    private var fitter: SongLineFitter
    private var gap: SongMap.Gap?
    private var entries: [Entry] = []
    private var isAfterChange = false
    /// All that two devices played and captured; nil with one device, after a change of devices, or if it is too long.
    private var history: TakeHistory?

    /// - Parameter sampleRate: the nominal rate of both devices in hertz.
    package init(_ clock: DeviceClock, sampleRate: Double) {
        self.init(clock, sampleRate: sampleRate, keepsHistory: clock == .separate)
    }

    init(_ clock: DeviceClock, sampleRate: Double, keepsHistory: Bool) {
        self.sampleRate = sampleRate
        heard = HeardSong(clock, sampleRate: sampleRate)
        captured = DeviceTimeline(clock, sampleRate: sampleRate, isPlaying: false)
        // A killed program loses the open piece: half a second.
        fitter = SongLineFitter(maximumLength: Int64(max(1, sampleRate / 2)))
        if keepsHistory { history = TakeHistory(sampleRate: sampleRate) }
    }

    /// Adds a piece of the map from ring frames to positions, before the blocks that play it.
    package mutating func add(ring piece: SongMap.Piece) {
        heard.add(ring: piece)
        history?.add(ring: piece)
    }

    package mutating func add(_ played: PlayedBlock) {
        guard played.isValid else { return }
        heard.add(played)
        history?.add(played)
        if history?.isFull == true { history = nil }
        mapWaiting(all: false)
    }

    package mutating func add(_ block: CapturedBlock) {
        guard block.isValid else { return }
        history?.add(block)
        if let timed = captured.add(block.block, block.takeFrame) { waiting.append(timed) }
        mapWaiting(all: false)
    }

    /// Maps the blocks of the present devices, and begins anew with others.
    package mutating func changeDevices(to clock: DeviceClock) {
        finish()
        heard.change(clock, sampleRate: sampleRate)
        captured = DeviceTimeline(clock, sampleRate: sampleRate, isPlaying: false)
        isAfterChange = true
        history = nil
    }

    /// Maps all blocks that were added.
    package mutating func finish() {
        heard.close()
        if let timed = captured.close() { waiting.append(timed) }
        mapWaiting(all: true)
        if let piece = fitter.close() { entries.append(.piece(piece)) }
        endGap()
    }

    /// Returns the entries that became known since the last call, each kind in order.
    package mutating func takeEntries() -> [Entry] {
        defer { entries = [] }
        return entries
    }

    /// Maps the whole take anew, with the clocks of two devices by all callbacks, before and after each frame. It takes 60 ms for
    /// an hour. Returns nil if this would tell nothing better: with one device, and if callbacks do not jitter.
    package func smoothedEntries() -> [Entry]? { history?.entries() }

    private mutating func mapWaiting(all: Bool) {
        var count = 0
        while count < waiting.count,
            all || waiting[count].end <= heard.end || waiting.count - count > Self.waitingLimit
        {
            map(waiting[count])
            count += 1
        }
        waiting.removeFirst(count)
    }

    private mutating func map(_ timed: DeviceTimeline<Int64>.Timed) {
        if timed.isAfterGap || isAfterChange {
            isAfterChange = false
            addGap(timed.content, 0, .device)
        }
        var offset = 0
        let count = timed.block.frameCount
        while offset < count {
            let time = timed.time(at: offset)
            let interval = heard.interval(endingAfter: time)
            let takeFrame = timed.content + Int64(offset)
            guard let interval, interval.start <= time else {
                let next = min(count, interval.map { timed.offset(at: $0.start) } ?? count)
                addGap(takeFrame, max(1, next - offset), .unknown)
                offset = max(next, offset + 1)
                continue
            }
            let next = max(offset + 1, min(count, timed.offset(at: interval.end)))
            if let silence = interval.silence {
                addGap(takeFrame, next - offset, silence)
            } else {
                let nanoseconds = Double(offset) * 1e9 / sampleRate - timed.block.latency * 1e9
                let segment = SongLineFitter.Segment(
                    frame: takeFrame, frameCount: Int64(next - offset), start: interval.position(at: time),
                    end: interval.position(at: timed.time(at: next)),
                    hostTime: HostTime(nanoseconds: timed.block.hostTime.nanoseconds + Int64(nanoseconds)))
                endGap()
                if let piece = fitter.add(segment) { entries.append(.piece(piece)) }
            }
            offset = next
        }
    }

    private mutating func addGap(_ frame: Int64, _ frameCount: Int, _ reason: SongGapReason) {
        if let open = gap, open.reason == reason, open.frameCount > 0, frameCount > 0, open.end == frame {
            gap?.frameCount += Int64(frameCount)
            return
        }
        if let piece = fitter.close() { entries.append(.piece(piece)) }
        endGap()
        gap = SongMap.Gap(frame: frame, frameCount: Int64(frameCount), reason: reason)
    }

    private mutating func endGap() {
        if let gap { entries.append(.gap(gap)) }
        gap = nil
    }
}
