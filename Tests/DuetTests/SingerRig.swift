// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EngineMeasures
import Foundation

@testable import EarshotDuet

/// A singer on virtual time: a song's source and renderer, the cards, and a voice that sings a function of the position heard.
final class SingerRig {
    static let songRate = 44_100.0
    static let blockLength = 128
    /// The frames at the beginning and the end of a sequence that are faded, or near the silence beside it.
    static let fadeLength = 245

    let memory = SongMemory(channelCount: 1, sampleRate: Card.nominalRate, capacity: 32_768)
    var source: SongSource
    var mapper: TakeMapper
    var output: Card
    var input: Card
    var clock: DeviceClock
    /// The position that the loudspeaker played first, and its true time in seconds.
    private(set) var firstHeard: (position: Double, time: Double)?
    /// The take: its sound, and the true position at each frame; nil if the song was not heard.
    private(set) var sound: [Float] = []
    private(set) var truth: [Double?] = []
    private(set) var entries: [TakeMapper.Entry] = []
    /// The entries that a killed program leaves, if the whole take was mapped anew; otherwise empty.
    private(set) var firstEntries: [TakeMapper.Entry] = []
    /// The frames of the output between two turns of the source's thread.
    var turnLength: Int64 = 0
    private var nextTurn = Int64.min
    /// True while the source's thread stands still.
    private var isStalled = false
    /// True if the times of two cards pass a loop as those of devices do.
    var isLoopUsed = true
    /// The loudspeaker's sound, silence included.
    private(set) var outputSound: [Float] = []
    /// The reasons for silence since the last call of ``takeSilences()``, each with its frames.
    private var silences: [SongGapReason: Int] = [:]

    /// True for a take of an hour: keeps the true position of some frames only, and not the loudspeaker's sound.
    var isLong = false
    /// The frames of a long take between two with a true position.
    static let truthStep = 64
    /// The true positions of a long take.
    private(set) var sparseTruth: [(frame: Int, position: Double)] = []
    let songLength: Int

    private let block = AudioBuffer(channelCount: 1, frameCapacity: IOCycle.maximumFrameCount)
    private let sings: (Double) -> Double
    let songRate: Double
    private var ringPieces: [SongMap.Piece] = []
    private var heard: [Int64: Double] = [:]
    private var dueFrame = 0
    private var sequences: [[(position: Double, sample: Double)]] = []
    /// The seconds by which a callback of two cards may be early or late.
    private let jitter: Double
    private var random = SeededRandom(seed: 5)
    private var loops = (
        output: DelayLockedLoop(sampleRate: Card.nominalRate), input: DelayLockedLoop(sampleRate: Card.nominalRate)
    )

    /// - Parameters:
    ///   - file: the song; nil for one of the function `sings`.
    ///   - input: nil if one card captures and plays.
    ///   - sings: the song and the voice at a second of the song.
    init(
        song: Int, songRate: Double = SingerRig.songRate, file: (any SoundFileReader)? = nil, countIn: Beat? = nil,
        output: Card, input: Card? = nil, jitter: Double = 0,
        sings: @escaping (Double) -> Double = voice
    ) {
        (self.songRate, songLength) = (songRate, song)
        self.sings = sings
        self.jitter = jitter
        source = SongSource(
            file ?? SyntheticSound(sampleRate: songRate, frameCount: song) { Float(sings(Double($0) / songRate)) },
            countIn: countIn, into: memory)
        (self.output, self.input) = (output, input ?? output)
        clock = input == nil ? .shared : .separate
        mapper = TakeMapper(clock, sampleRate: Card.nominalRate)
    }

    static func hostTime(_ seconds: Double) -> HostTime {
        HostTime(nanoseconds: 5_000_000_000_000 + Int64((seconds * 1e9).rounded()))
    }

    /// Runs the cards until a true time in seconds.
    func run(until end: Double) throws {
        while true {
            let times = (output.time(Double(output.next)), input.time(Double(input.next)))
            if clock == .shared {
                guard times.0 < end else { return }
                try play(at: times.0)
                input.next = output.next
                capture(at: times.0)
                output.next += Int64(Self.blockLength)
                continue
            }
            guard min(times.0, times.1) < end else { return }
            if times.0 <= times.1 {
                try play(at: times.0)
                output.next += Int64(Self.blockLength)
            } else {
                capture(at: times.1)
                input.next += Int64(Self.blockLength)
            }
        }
    }

    /// Runs the cards while the source's thread stands still.
    func stall(until end: Double) throws {
        isStalled = true
        try run(until: end)
        isStalled = false
    }

    func start(at seconds: Double, position: Double) throws {
        let frame = Int64(position * songRate)
        let ringFrame = try source.seek(to: SongPosition(frame: frame))
        order(.start(ringFrame: ringFrame, at: Self.hostTime(seconds)))
    }

    func order(_ order: SongOrder) { memory.orders.writer.push(order) }

    /// Returns the frames of silence by their reason since the last call.
    func takeSilences() -> [SongGapReason: Int] {
        defer { silences = [:] }
        return silences
    }

    /// The take's map, without gaps.
    var map: SongMap { Self.map(entries) }

    static func map(_ entries: [TakeMapper.Entry]) -> SongMap {
        var map = SongMap()
        for case .piece(let piece) in entries { map.append(piece) }
        return map
    }

    /// The greatest difference of a played sample from the song's sound at its mapped position, without fades.
    var largestError: Double {
        var largest = 0.0
        for sequence in sequences {
            for (position, sample) in sequence.dropFirst(Self.fadeLength).dropLast(Self.fadeLength) {
                largest = max(largest, abs(sample - sings(position / songRate)))
            }
        }
        return largest
    }

    /// The loudest click of the loudspeaker in dBFS.
    var click: Double {
        var meter = ClickMeter()
        for sample in outputSound { meter.add(sample) }
        return meter.level
    }

    /// Exchanges the cards for one that captures and plays.
    func exchange(for card: Card) {
        (output, input, clock) = (card, card, .shared)
        nextTurn = .min
        heard = [:]
        mapper.changeDevices(to: .shared)
    }

    func finish() {
        mapper.finish()
        entries += mapper.takeEntries()
        if let smoothed = mapper.smoothedEntries() { (firstEntries, entries) = (entries, smoothed) }
    }

    private func play(at time: Double) throws {
        if !isStalled, output.next >= nextTurn {
            try source.fill(dueFrame: dueFrame)
            nextTurn = output.next + turnLength
        }
        for piece in source.takePieces() {
            ringPieces.append(piece)
            mapper.add(ring: piece)
        }
        clearSamples(block.channels[0], Self.blockLength)
        let latency = clock == .shared ? output.latency.output / Card.nominalRate : output.latency.output
        let start = callbackTime(time)
        let hostTime =
            clock == .shared || !isLoopUsed ? start : loops.output.update(sampleTime: output.next, now: start)
        var cycle = IOCycle(
            frameCount: Self.blockLength, sampleTime: output.next, hostTime: hostTime, inputLatency: 0,
            outputLatency: latency, input: Channels(block.channels.pointers, count: 0), output: block.channels)
        cycle.lateness = start.seconds(since: hostTime)
        memory.callback(&cycle)
        if isLong {
            forgetHeard()
        } else {
            for i in 0..<Self.blockLength { outputSound.append(block.channels[0][i]) }
        }
        while let part = memory.played.pop() {
            mapper.add(part)
            dueFrame = part.dueFrame ?? dueFrame
            if let silence = part.silence {
                silences[silence, default: 0] += part.frameCount
                continue
            }
            for i in 0..<part.frameCount { note(part, i, latency) }
        }
    }

    /// Notes a played frame.
    private func note(_ part: PlayedBlock, _ i: Int, _ latency: Double) {
        let frame = Int64(part.ringFrame + i)
        ringPieces.removeAll { $0.end < frame }
        guard let piece = ringPieces.first(where: { $0.end > frame }) else { return }
        let position = piece.position(at: frame).frames
        let outputFrame = output.next + Int64(part.offset + i)
        let continues = heard[outputFrame - 1].map { abs(position - $0) < 2 * songRate / Card.nominalRate } ?? false
        heard[outputFrame] = position
        if !isLong {
            if !continues { sequences.append([]) }
            sequences[sequences.count - 1].append((position, Double(block.channels[0][part.offset + i])))
        }
        if firstHeard == nil { firstHeard = (position, output.time(Double(outputFrame)) + latency) }
    }

    /// Forgets positions that were heard more than two seconds ago, once a second.
    private func forgetHeard() {
        guard heard.count > 3 * Int(Card.nominalRate) else { return }
        let oldest = output.next - 2 * Int64(Card.nominalRate)
        heard = heard.filter { $0.key > oldest }
    }

    /// Returns the time at which a callback due at a true time begins.
    private func callbackTime(_ time: Double) -> HostTime {
        Self.hostTime(time + jitter * (2 * random.unit() - 1))
    }

    private func capture(at time: Double) {
        let latency = clock == .shared ? input.latency.input / Card.nominalRate : input.latency.input
        let start = callbackTime(time)
        let hostTime =
            clock == .shared || !isLoopUsed ? start : loops.input.update(sampleTime: input.next, now: start)
        let device = DeviceBlock(
            sampleTime: input.next, frameCount: Self.blockLength, hostTime: hostTime, latency: latency,
            lateness: start.seconds(since: hostTime))
        mapper.add(CapturedBlock(device, takeFrame: Int64(sound.count)))
        entries += mapper.takeEntries()
        for i in 0..<Self.blockLength {
            let position = heardPosition(input.next + Int64(i))
            if !isLong {
                truth.append(position)
            } else if let position, sound.count % Self.truthStep == 0 {
                sparseTruth.append((sound.count, position))
            }
            sound.append(position.map { Float(sings($0 / songRate)) } ?? 0)
        }
    }

    /// Returns the position that is heard when the sound of a captured frame enters the microphone.
    private func heardPosition(_ frame: Int64) -> Double? {
        let outputFrame =
            clock == .shared
            ? Double(frame) - input.latency.input - output.latency.output
            : output.frame(input.time(Double(frame)) - input.latency.input - output.latency.output)
        let whole = outputFrame.rounded(.down)
        guard let first = heard[Int64(whole)] else { return nil }
        guard let second = heard[Int64(whole) + 1], abs(second - first) < 2 * songRate / Card.nominalRate else {
            return first
        }
        return first + (outputFrame - whole) * (second - first)
    }
}
