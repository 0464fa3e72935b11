import AudioBase
import AudioDSP
import AudioFiles

/// What an ``AudioPlayer`` plays: files one behind the other, without a gap, through the time stretcher. Under the player's lock.
struct PlayerTimeline: ~Copyable, @unchecked Sendable {  // moves with its lock
    struct Item {
        let reader: ConvertedFileReader
        let path: String
        /// How many times more; negative for ever.
        let loops: Int
    }
    /// Where in the files a place of the stream is.
    struct Place: Equatable {
        var item: Int
        var frame: Int
    }
    /// What one fill came to.
    struct Fill {
        var frameCount = 0
        /// Items whose last frame is in it.
        var ended: [Int] = []
        var failures: [(item: Int, error: AudioFileError)] = []
        /// Pieces of it: from which frame on which place of the stream is heard, at which speed.
        var marks: [(offset: Int, stream: Double, speed: Double)] = []
    }

    private(set) var items: [Item] = []
    /// Where reading goes on.
    private(set) var reading = Place(item: 0, frame: 0)
    private var loopsDone = 0
    let stretcher: TimeStretcher
    /// From which frame of the stream on it is at which place; ascending.
    private var segments: [(stream: Int, place: Place)] = []
    private var streamed = 0
    /// The place of the stream at which the stretcher began.
    private var base = 0
    private var ends: [(stream: Int, item: Int)] = []
    /// Frames still to be faded in, after a seek.
    private var fadeLeft = 0
    private let fadeLength: Int
    private var isFinished = false

    init(format: AudioFormat) {
        stretcher = TimeStretcher(sampleRate: format.sampleRate, channelCount: format.channelCount)
        fadeLength = max(1, Int(format.sampleRate * 0.01))
    }

    mutating func append(_ item: Item) { items.append(item) }

    /// Goes to a place, exactly. What is read next fades in over 10 ms unless it begins a file.
    mutating func seek(to place: Place) throws(AudioFileError) {
        if items.indices.contains(place.item) { try items[place.item].reader.seek(to: place.frame) }
        reading = place
        loopsDone = 0
        restart()
        fadeLeft = place.frame > 0 ? fadeLength : 0
    }

    /// Whether there is no more to read.
    var isAtEnd: Bool { reading.item >= items.count }

    /// Lets what was appended behind the end be read.
    mutating func goOn() {
        guard isFinished else { return }
        stretcher.reset()
        base = streamed
        isFinished = false
    }

    private mutating func restart() {
        stretcher.reset()
        segments = [(0, reading)]
        (streamed, base) = (0, 0)
        ends = []
        isFinished = false
    }

    /// Fills a buffer as far as the files go.
    mutating func fill(_ samples: Channels, frameCount: Int) -> Fill {
        var fill = Fill()
        if segments.isEmpty { segments = [(0, reading)] }
        while fill.frameCount < frameCount {
            let at = Double(base) + stretcher.position
            let speed = stretcher.speed
            // Pieces, so that each has its own mark.
            let count = stretcher.read(
                samples, frameCount: min(frameCount - fill.frameCount, 1_024), offset: fill.frameCount)
            if count > 0 {
                fill.marks.append((fill.frameCount, at, speed))
                fadeIn(samples, fill.frameCount, count)
                fill.frameCount += count
                while let first = ends.first, Double(first.stream) <= Double(base) + stretcher.position {
                    fill.ended.append(first.item)
                    ends.removeFirst()
                }
            } else if isFinished {
                fill.ended += ends.map(\.item)
                ends = []
                break
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

    /// Reads on into the stretcher.
    private mutating func feed(_ fill: inout Fill) {
        guard reading.item < items.count else {
            stretcher.finish()
            isFinished = true
            return
        }
        let item = items[reading.item]
        let room = min(stretcher.inputRoom, 2_048)
        var got = 0
        var failed = false
        do throws(AudioFileError) {
            got = try item.reader.read(into: stretcher.input, frameCount: room, offset: stretcher.inputOffset)
        } catch {
            fill.failures.append((reading.item, error))
            failed = true
        }
        stretcher.append(got)
        streamed += got
        reading.frame += got
        guard got < room else { return }
        advance(from: item, failed: failed, &fill)
    }

    /// Begins the item again, or the next.
    private mutating func advance(from item: Item, failed: Bool, _ fill: inout Fill) {
        let goesOn = !failed && reading.frame > 0 && (item.loops < 0 || loopsDone < item.loops)
        if goesOn {
            loopsDone += 1
            reading.frame = 0
        } else {
            ends.append((streamed, reading.item))
            reading = Place(item: reading.item + 1, frame: 0)
            loopsDone = 0
        }
        segments.append((streamed, reading))
        guard reading.item < items.count, items[reading.item].reader.framePosition != 0 else { return }
        do throws(AudioFileError) {
            try items[reading.item].reader.seek(to: 0)
        } catch { fill.failures.append((reading.item, error)) }
    }

    /// Where in the files a place of the stream is.
    func place(of stream: Double) -> Place {
        guard let segment = segments.last(where: { Double($0.stream) <= stream }) else { return reading }
        return Place(item: segment.place.item, frame: segment.place.frame + Int(stream) - segment.stream)
    }

    /// Forgets places before this one.
    mutating func prune(before stream: Double) {
        while segments.count > 1, Double(segments[1].stream) < stream { segments.removeFirst() }
    }
}
