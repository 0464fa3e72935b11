// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation

@testable import EarshotDuet

/// A singer on virtual time: a song's source and renderer, the cards, and a voice that sings a function of the position heard.
final class SingerRig {
    static let songRate = 44_100.0
    static let blockLength = 128

    let ring = AudioRing(channelCount: 1, capacity: 32_768)
    let orders = MessageQueue<SongOrder>(capacity: 16)
    let played = MessageQueue<PlayedBlock>(capacity: 64)
    var source: SongSource
    var renderer: SongRenderer
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
    /// True while the source's thread stands still.
    var isStalled = false

    private let memory = AudioBuffer(channelCount: 1, frameCapacity: IOCycle.maximumFrameCount)
    private let block = AudioBuffer(channelCount: 1, frameCapacity: IOCycle.maximumFrameCount)
    /// The greatest difference of a played sample from the song's sound at its mapped position, after the song's first 40 frames.
    private(set) var largestError = 0.0
    private var ringPieces: [SongMap.Piece] = []
    private var heard: [Int64: Double] = [:]
    private var playedEnd = 0

    /// - Parameter input: nil if one card captures and plays.
    init(song: Int, output: Card, input: Card? = nil) {
        source = SongSource(
            SyntheticSound(sampleRate: Self.songRate, frameCount: song) {
                Float(voice(at: Double($0) / Self.songRate))
            },
            into: ring, deviceRate: Card.nominalRate)
        renderer = SongRenderer(
            ring: ring.reader, orders: orders.reader, played: played.writer, block: memory.channels,
            sampleRate: Card.nominalRate)
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

    func start(at seconds: Double, position: Double) throws {
        let frame = Int64(position * Self.songRate)
        let ringFrame = try source.seek(to: SongPosition(frame: frame))
        orders.writer.push(.start(ringFrame: ringFrame, at: Self.hostTime(seconds)))
    }

    /// Exchanges the cards for one that captures and plays.
    func exchange(for card: Card) {
        (output, input, clock) = (card, card, .shared)
        heard = [:]
        mapper.changeDevices(to: .shared)
    }

    func finish() {
        mapper.finish()
        entries += mapper.takeEntries()
    }

    private func play(at time: Double) throws {
        if !isStalled { try source.fill(playedCount: playedEnd) }
        for piece in source.takePieces() {
            ringPieces.append(piece)
            mapper.add(ring: piece)
        }
        clearSamples(block.channels[0], Self.blockLength)
        let latency = clock == .shared ? output.latency.output / Card.nominalRate : output.latency.output
        renderer.process(
            IOCycle(
                frameCount: Self.blockLength, sampleTime: output.next, hostTime: Self.hostTime(time), inputLatency: 0,
                outputLatency: latency, input: Channels(block.channels.pointers, count: 0), output: block.channels))
        while let part = played.pop() {
            mapper.add(part)
            guard part.silence == nil else { continue }
            playedEnd = part.ringFrame + part.frameCount
            for i in 0..<part.frameCount {
                let frame = Int64(part.ringFrame + i)
                ringPieces.removeAll { $0.end < frame }
                guard let piece = ringPieces.first(where: { $0.end > frame }) else { continue }
                let position = piece.position(at: frame).frames
                heard[output.next + Int64(part.offset + i)] = position
                let sample = Double(block.channels[0][part.offset + i])
                if firstHeard == nil {
                    let latency = clock == .shared ? output.latency.output / Card.nominalRate : output.latency.output
                    firstHeard = (position, output.time(Double(output.next) + Double(part.offset + i)) + latency)
                }
                // The resampler's filter sees the silence before the song.
                if position < 40 { continue }
                largestError = max(largestError, abs(sample - voice(at: position / Self.songRate)))
            }
        }
    }

    private func capture(at time: Double) {
        let latency = clock == .shared ? input.latency.input / Card.nominalRate : input.latency.input
        let device = DeviceBlock(
            sampleTime: input.next, frameCount: Self.blockLength, hostTime: Self.hostTime(time), latency: latency)
        mapper.add(CapturedBlock(device, takeFrame: Int64(sound.count)))
        entries += mapper.takeEntries()
        for i in 0..<Self.blockLength {
            let position = heardPosition(input.next + Int64(i))
            truth.append(position)
            sound.append(position.map { Float(voice(at: $0 / Self.songRate)) } ?? 0)
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
        guard let second = heard[Int64(whole) + 1], abs(second - first) < 2 else { return first }
        return first + (outputFrame - whole) * (second - first)
    }
}
