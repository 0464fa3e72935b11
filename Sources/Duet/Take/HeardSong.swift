// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The song as it left the loudspeaker: which position was heard at which time. Positions follow from the map of the song's ring
/// and the blocks that the device played.
struct HeardSong: Sendable {
    /// An interval of time, in ticks of ``DeviceTimeline``, in which the song advanced evenly or was silent.
    struct Interval: Sendable {
        var start: Int64
        var end: Int64
        var positions: (start: SongPosition, end: SongPosition)
        var silence: SongGapReason?

        /// Returns the position at a time.
        func position(at time: Int64) -> SongPosition {
            let advance = positions.end.units - positions.start.units
            let length = Int128(max(1, end - start))
            // Ticks are multiplied before they are divided; an interval is at most a block long.
            let units = positions.start.units + advance * (Int128(time) - Int128(start)) / length
            return SongPosition(units: units)
        }
    }

    /// The maximum number of intervals that wait for captured blocks: 5 s of blocks of 64 frames at 48 kHz and more.
    private static let limit = 4_096

    private(set) var intervals: [Interval] = []
    /// The number of intervals at the beginning that are no longer needed.
    private var usedCount = 0
    private var ring = SongMap()
    private var timeline: DeviceTimeline<[PlayedBlock]>

    init(_ clock: DeviceClock, sampleRate: Double) {
        timeline = DeviceTimeline(clock, sampleRate: sampleRate, isPlaying: true)
    }

    /// The time up to which it is known what was heard.
    private(set) var end = Int64.min

    /// Adds a piece of the ring's map, before the blocks that play it.
    mutating func add(ring piece: SongMap.Piece) { ring.append(piece) }

    /// - Parameter played: valid.
    mutating func add(_ played: PlayedBlock) {
        if timeline.pendingBlock == played.block { return timeline.changePending { $0.append(played) } }
        if let timed = timeline.add(played.block, [played]) { add(timed) }
    }

    /// Adds the last block.
    mutating func close() { if let timed = timeline.close() { add(timed) } }

    /// Begins anew with other devices. The ring stays.
    mutating func change(_ clock: DeviceClock, sampleRate: Double) {
        (intervals, usedCount, end) = ([], 0, .min)
        timeline = DeviceTimeline(clock, sampleRate: sampleRate, isPlaying: true)
    }

    /// Returns the first interval that ends after a time; earlier times are then no longer needed.
    mutating func interval(endingAfter time: Int64) -> Interval? {
        while usedCount < intervals.count, intervals[usedCount].end <= time { usedCount += 1 }
        if usedCount > 1_024 {
            intervals.removeFirst(usedCount)
            usedCount = 0
        }
        return usedCount < intervals.count ? intervals[usedCount] : nil
    }

    private mutating func add(_ timed: DeviceTimeline<[PlayedBlock]>.Timed) {
        for part in timed.content {
            if let silence = part.silence {
                let nowhere = SongPosition(units: 0)
                add(timed, part.offset, part.frameCount, (nowhere, nowhere), silence)
            } else {
                addSong(timed, part)
            }
        }
    }

    private mutating func addSong(_ timed: DeviceTimeline<[PlayedBlock]>.Timed, _ part: PlayedBlock) {
        let first = Int64(part.ringFrame)
        let end = first + Int64(part.frameCount)
        ring.removeAll(before: first - 1)
        for piece in ring.pieces.prefix(while: { $0.frame < end }) where piece.end > first {
            let (from, to) = (max(first, piece.frame), min(end, piece.end))
            // A take begins with the song, not with its count-in.
            let start = max(from, min(to, piece.frame(at: SongPosition(units: 0)).frameAbove))
            add(timed, part.offset + Int(from - first), Int(start - from), piece, from, .stopped)
            add(timed, part.offset + Int(start - first), Int(to - start), piece, start, nil)
        }
    }

    /// Adds frames of a piece of the ring from one of its frames on.
    private mutating func add(
        _ timed: DeviceTimeline<[PlayedBlock]>.Timed, _ offset: Int, _ frameCount: Int, _ piece: SongMap.Piece,
        _ frame: Int64, _ silence: SongGapReason?
    ) {
        guard frameCount > 0 else { return }
        let positions = (piece.position(at: frame), piece.position(at: frame + Int64(frameCount)))
        add(timed, offset, frameCount, positions, silence)
    }

    private mutating func add(
        _ timed: DeviceTimeline<[PlayedBlock]>.Timed, _ offset: Int, _ frameCount: Int,
        _ positions: (SongPosition, SongPosition), _ silence: SongGapReason?
    ) {
        let (start, end) = (timed.time(at: offset), timed.time(at: offset + frameCount))
        guard start < end, self.end < end else { return }
        if intervals.count >= Self.limit + 1_024 {
            intervals.removeFirst(1_024)
            usedCount = max(0, usedCount - 1_024)
        }
        intervals.append(Interval(start: start, end: end, positions: positions, silence: silence))
        self.end = end
    }
}
