// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The items of an ``AudioPlayer``, played one after the other without a gap, through the time stretcher. Guarded by the player's
/// lock.
struct PlayerTimeline: ~Copyable, @unchecked Sendable {  // moves with its lock
    struct Item {
        let source: any PlayerSource
        /// The number of repetitions; negative for endless.
        let loops: Int
        /// The number of frames of the item that were heard.
        var framesHeard = 0
    }
    /// A frame of an item.
    struct Place: Equatable {
        var item: Int
        var frame: Int
    }
    /// The result of one call of ``fill(_:frameCount:)``.
    struct Fill {
        var frameCount = 0
        /// The items whose last frame is in the buffer.
        var ended: [Int] = []
        var failures: [(item: Int, error: AudioPlayerError)] = []
        /// The pieces of the buffer: the offset of a piece's first frame, the timeline's position there, and the speed.
        var marks: [(offset: Int, at: Double, speed: Double)] = []
    }
    /// A part of the timeline: the position `start` is at `place` in the items. In silence, while a stream has no data, the place
    /// stays.
    private struct Segment {
        let start: Int
        let place: Place
        var isSilence = false
    }

    private(set) var items: [Item] = []
    /// The place of the next frame to read.
    private(set) var reading = Place(item: 0, frame: 0)
    private var loopsDone = 0
    private let stretcher: TimeStretcher
    /// Input frames for each output frame; 1 for a live source.
    var speed = 1.0 {
        didSet {
            let speeds = TimeStretcher.speeds
            speed = speed.isFinite ? min(speeds.upperBound, max(speeds.lowerBound, speed)) : oldValue
        }
    }
    /// The segments of the timeline, ascending.
    private var segments: [Segment] = []
    private var appendedFrames = 0
    /// The timeline's position at which the stretcher started.
    private var stretcherStart = 0
    /// The timeline's position up to which frames are counted as heard.
    private var heardEnd = 0
    private var itemEnds: [(at: Int, item: Int)] = []
    /// The number of frames still to be faded in after a seek.
    private var fadeLeft = 0
    private let fadeLength: Int
    private var isFinished = false
    private let sampleRate: Double
    /// The seconds before an item's end at which the next item is prepared.
    private static let preparationSeconds = 5.0

    init(format: AudioFormat) {
        stretcher = TimeStretcher(sampleRate: format.sampleRate, channelCount: format.channelCount)
        sampleRate = format.sampleRate
        fadeLength = max(1, Int(format.sampleRate * 0.01))
    }

    mutating func append(_ item: Item) { items.append(item) }

    /// Seeks to a place, exactly. The next frames fade in over 10 ms, except at the beginning of an item.
    mutating func seek(to place: Place) throws(AudioPlayerError) {
        if items.indices.contains(place.item) { try items[place.item].source.seek(to: place.frame) }
        for (index, item) in items.enumerated() where index != place.item { item.source.releaseResources() }
        reading = place
        loopsDone = 0
        restart()
        fadeLeft = place.frame > 0 ? fadeLength : 0
    }

    /// Closes files and connections.
    func releaseResources() { for item in items { item.source.releaseResources() } }

    /// True if the frames that were read are of a live station and outdated, after a long pause.
    var isOutdated: Bool { items.indices.contains(reading.item) && items[reading.item].source.isOutdated }

    /// Discards frames that were read and not heard.
    mutating func forgetAhead() {
        restart()
        fadeLeft = 0
    }

    /// True if all items are read to their end.
    var isAtEnd: Bool { reading.item >= items.count }

    private mutating func restart() {
        stretcher.reset()
        segments = [Segment(start: 0, place: reading)]
        (appendedFrames, stretcherStart, heardEnd) = (0, 0, 0)
        itemEnds = []
        isFinished = false
    }

    /// Fills a buffer from the items.
    mutating func fill(_ samples: Channels, frameCount: Int) -> Fill {
        var fill = Fill()
        if segments.isEmpty { segments = [Segment(start: 0, place: reading)] }
        while fill.frameCount < frameCount {
            let isLive = items.indices.contains(reading.item) && items[reading.item].source.isLive
            stretcher.speed = isLive ? 1 : speed
            let at = Double(stretcherStart) + stretcher.position
            // The buffer is filled in pieces, each with its own mark.
            let count = stretcher.read(
                samples, frameCount: min(frameCount - fill.frameCount, 1_024), offset: fill.frameCount)
            if count > 0 {
                fill.marks.append((fill.frameCount, at, stretcher.speed))
                fadeIn(samples, fill.frameCount, count)
                fill.frameCount += count
                while let first = itemEnds.first, Double(first.at) <= Double(stretcherStart) + stretcher.position {
                    fill.ended.append(first.item)
                    itemEnds.removeFirst()
                }
            } else if isFinished {
                fill.ended += itemEnds.map(\.item)
                itemEnds = []
                guard !isAtEnd else { break }
                // An item was appended after the end.
                stretcher.reset()
                stretcherStart = appendedFrames
                isFinished = false
            } else {
                feed(&fill)
            }
        }
        return fill
    }

    private mutating func fadeIn(_ samples: Channels, _ offset: Int, _ count: Int) {
        for i in 0..<min(count, fadeLeft) {
            let gain = Float(fadeLength - fadeLeft + i + 1) / Float(fadeLength)
            for c in 0..<samples.count { samples[c][offset + i] *= gain }
        }
        fadeLeft = max(0, fadeLeft - count)
    }

    /// Reads frames into the stretcher.
    private mutating func feed(_ fill: inout Fill) {
        guard reading.item < items.count else {
            stretcher.finish()
            isFinished = true
            return
        }
        let room = min(stretcher.inputRoom, 2_048)
        let source = items[reading.item].source
        switch source.read(into: stretcher.input, frameCount: room, offset: stretcher.inputOffset) {
        case .frames(let readCount, let isLast, let from):
            let isElsewhere = from.map { $0 != reading.frame } ?? false
            reading.frame = from ?? reading.frame
            if readCount > 0, segments.last?.isSilence == true || isElsewhere { begin(reading) }
            append(readCount)
            reading.frame += readCount
            prepareNext(source)
            if isLast { advance(failed: false, &fill) }
        case .nothing:
            if segments.last?.isSilence != true { begin(reading, isSilence: true) }
            // Silence is added in short pieces, so that sound that arrives meanwhile is soon heard.
            let count = min(room, 512)
            for c in 0..<stretcher.input.count { clearSamples(stretcher.input[c] + stretcher.inputOffset, count) }
            append(count)
        case .failed(let error):
            fill.failures.append((reading.item, error))
            advance(failed: true, &fill)
        }
    }

    private mutating func append(_ count: Int) {
        stretcher.append(count)
        appendedFrames += count
    }

    private mutating func begin(_ place: Place, isSilence: Bool = false) {
        segments.append(Segment(start: appendedFrames, place: place, isSilence: isSilence))
    }

    private func prepareNext(_ source: any PlayerSource) {
        guard reading.item + 1 < items.count, items[reading.item].loops == loopsDone,
            source.isEnding(at: reading.frame, within: Int(Self.preparationSeconds * sampleRate))
        else { return }
        items[reading.item + 1].source.prepare()
    }

    /// Repeats the item that was read to its end, or begins the next item.
    private mutating func advance(failed: Bool, _ fill: inout Fill) {
        let item = items[reading.item]
        let isRepeated = !failed && reading.frame > 0 && (item.loops < 0 || loopsDone < item.loops)
        if isRepeated {
            loopsDone += 1
            reading.frame = 0
        } else {
            itemEnds.append((appendedFrames, reading.item))
            item.source.releaseResources()
            reading = Place(item: reading.item + 1, frame: 0)
            loopsDone = 0
        }
        begin(reading)
        guard reading.item < items.count else { return }
        do throws(AudioPlayerError) {
            try items[reading.item].source.seek(to: 0)
        } catch {
            fill.failures.append((reading.item, error))
            advance(failed: true, &fill)
        }
    }

    // MARK: Heard frames

    /// Returns the place in the items at a position of the timeline.
    func place(of at: Double) -> Place {
        guard let segment = segments.last(where: { Double($0.start) <= at }) else { return reading }
        let frames = segment.isSilence ? 0 : Int(at) - segment.start
        return Place(item: segment.place.item, frame: segment.place.frame + frames)
    }

    /// Counts the frames heard up to a position of the timeline, and forgets earlier segments.
    mutating func pass(_ at: Double) {
        let end = Int(at)
        for (index, segment) in segments.enumerated()
        where !segment.isSilence && items.indices.contains(segment.place.item) {
            let next = index + 1 < segments.count ? segments[index + 1].start : Int.max
            items[segment.place.item].framesHeard += max(0, min(end, next) - max(heardEnd, segment.start))
        }
        heardEnd = max(heardEnd, end)
        while segments.count > 1, Double(segments[1].start) < at { segments.removeFirst() }
    }
}
