// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall

/// Reads the files of an accompaniment, one after the other without a gap, into the call's ring. For one thread, without a clock.
struct AccompanimentDeck {
    /// The part of a file in the ring, from its first frame there on.
    struct Segment {
        let start: Int  // the number of frames that were written before
        let frame: Int  // the first frame of the part in its file
        let item: AccompanimentReport.Item
        let frameCount: Int
    }

    /// The seconds after which ``AccompanimentControl/previous`` returns to the beginning of the file.
    private static let returnTime = 3.0
    /// The failures in a row that are reported one by one.
    private static let namedFailures = 5
    /// The files to open in a turn, so that the thread can end between files that cannot be opened.
    private static let turnLimit = 64

    let song: CallAccompaniment
    private let format: AudioFormat
    private let buffer: AudioBuffer
    private var paths: [String] = []
    private var reader: SongReader?
    /// The file to open next, and the direction in which others are tried; nil if the files have ended.
    private var search: (index: Int, step: Int)?
    private var segments: [Segment] = []
    /// The number of frames before the first one of the present position.
    private var discardEnd = 0
    private var failures: [AudioFileError] = []
    private var failuresInRow = 0

    init(_ song: CallAccompaniment) {
        self.song = song
        format = AudioFormat(sampleRate: song.sampleRate, channelCount: song.channelCount)
        buffer = AudioBuffer(channelCount: song.channelCount, frameCapacity: 4_096)
    }

    // MARK: Orders

    mutating func apply(_ order: AccompanimentOrder) {
        switch order {
        case .load(let names, let gain, let isForAll): load(names, gain: gain, isForAll: isForAll)
        case .control(.play): play()
        case .control(.pause): song.isPlaying = false
        case .control(.seek(let seconds)): seek(to: Int(min(1e9, max(0, seconds)) * format.sampleRate))
        case .control(.next): if let item = openChosenFile()?.segment.item { go(to: item.number, step: 1) }
        case .control(.previous): goBack()
        case .control(.setGain(let gain)): song.gain = gain
        case .control(.setForAll(let isForAll)): song.isForAll = isForAll
        }
    }

    private mutating func load(_ names: [String], gain: Float, isForAll: Bool) {
        song.isPlaying = false
        let list = SongList(names)
        (paths, failures, failuresInRow) = (list.paths, list.failures, 0)
        segments = []
        go(to: 0, step: 1)
        guard !names.isEmpty else { return }
        (song.gain, song.isForAll) = (gain, isForAll)
    }

    private mutating func play() {
        if hasEnded { go(to: 0, step: 1) }
        song.isPlaying = true
    }

    /// Drops the frames that are not played yet, and opens another file; the next one in the direction of `step` if it cannot be
    /// opened.
    private mutating func go(to index: Int, step: Int) {
        dropUnplayedFrames()
        reader = nil
        search = (index, step)
    }

    private mutating func dropUnplayedFrames() {
        song.discard()
        discardEnd = song.writtenCount
    }

    /// Opens the file that an earlier order of this turn chose. Returns the part that is played, and the frame in its file; nil
    /// if no file can be played.
    private mutating func openChosenFile() -> (segment: Segment, frame: Int)? {
        for _ in 0..<Self.turnLimit where search != nil { openNext() }
        return played()
    }

    private mutating func goBack() {
        guard let (segment, frame) = openChosenFile() else { return }
        let hasBegun = Double(frame) > Self.returnTime * format.sampleRate
        guard !hasBegun, segment.item.number > 1 else { return seek(to: 0) }
        go(to: segment.item.number - 2, step: -1)
    }

    private mutating func seek(to frame: Int) {
        guard let item = openChosenFile()?.segment.item else { return }
        dropUnplayedFrames()
        do throws(AudioFileError) {
            let index = item.number - 1
            let reader =
                if let reader, reader.index == index { reader } else {
                    try SongReader(item.path, index: index, as: format)
                }
            try reader.seek(to: min(frame, reader.frameCount))
            begin(reader)
        } catch {
            fail(error, index: item.number - 1, step: 1)
        }
    }

    // MARK: Reading

    /// Fills the ring by half, so that a seek finds room. Returns false if the turn is over before that.
    mutating func fill() -> Bool {
        var openedCount = 0
        while search != nil || reader != nil {
            guard let reader else {
                guard openedCount < Self.turnLimit else { return false }
                openedCount += 1
                openNext()
                continue
            }
            let ahead = song.writtenCount - max(discardEnd, song.clock.frameCount)
            let room = min(song.room, song.capacity / 2 - ahead, buffer.frameCapacity)
            guard room > 0 else { return true }
            do throws(AudioFileError) {
                let count = try reader.read(into: buffer.channels, frameCount: room)
                if count > 0 { song.write(buffer.channels, frameCount: count) }
                if count == 0 { advance(from: reader) }
            } catch {
                fail(error, index: reader.index, step: 1)
            }
        }
        song.endSound()
        return true
    }

    private mutating func advance(from finished: SongReader) {
        reader = nil
        search = (finished.index + 1, 1)
    }

    private mutating func openNext() {
        guard let (index, step) = search else { return }
        guard paths.indices.contains(index) else {
            // Without a file before, the first one that plays is the beginning.
            search = step < 0 && !paths.isEmpty ? (0, 1) : nil
            return reportUnnamedFailures(lastIndex: index - step)
        }
        do throws(AudioFileError) {
            begin(try SongReader(paths[index], index: index, as: format))
            reportUnnamedFailures(lastIndex: index - step)
        } catch {
            fail(error, index: index, step: step)
        }
    }

    private mutating func begin(_ reader: SongReader) {
        self.reader = reader
        search = nil
        let start = song.writtenCount
        let oldEnd = discardEnd
        segments.removeAll { $0.start >= start || $0.start < oldEnd }
        segments.append(
            Segment(
                start: start, frame: reader.position,
                item: AccompanimentReport.Item(
                    number: reader.index + 1, count: paths.count, path: reader.path, title: reader.title,
                    duration: Double(reader.frameCount) / format.sampleRate), frameCount: reader.frameCount))
    }

    private mutating func fail(_ error: AudioFileError, index: Int, step: Int) {
        reader = nil
        search = (index + step, step)
        failuresInRow += 1
        if failuresInRow <= Self.namedFailures { failures.append(error) }
    }

    /// Reports the last of the failures in a row that were not named, and their number.
    private mutating func reportUnnamedFailures(lastIndex: Int) {
        let count = failuresInRow - Self.namedFailures
        failuresInRow = 0
        guard count > 0, paths.indices.contains(lastIndex) else { return }
        let others = count > 1 ? ", like \(count - 1) files before it" : ""
        failures.append(.unsupportedFormat(path: paths[lastIndex], detail: "cannot be played\(others)"))
    }

    /// Returns the failures since the last call.
    mutating func takeFailures() -> [AudioFileError] {
        defer { failures = [] }
        return failures
    }

    // MARK: Playing

    /// True if all files were read and played.
    var hasEnded: Bool { search == nil && reader == nil && song.clock.frameCount >= song.writtenCount }

    /// True while dropped frames keep room from new ones.
    var isDropping: Bool { song.clock.frameCount < discardEnd }

    /// Returns the part that is played, and the frame in its file; nil if no file can be played.
    mutating func played() -> (segment: Segment, frame: Int)? {
        let end = max(discardEnd, song.clock.frameCount)
        while segments.count > 1, segments[1].start <= end { segments.removeFirst() }
        return segments.first.map { ($0, position(in: $0)) }
    }

    private func position(in segment: Segment) -> Int {
        min(segment.frameCount, segment.frame + max(0, song.clock.frameCount - segment.start))
    }
}
