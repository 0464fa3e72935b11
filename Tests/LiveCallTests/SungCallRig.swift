// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport
import Foundation

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotSimulation

/// A call of two singers. Each hears only the local song, and sings it exactly as heard. Both record.
final class SungCallRig {
    static let songRate = 44_100.0
    static let songLength = Int(9 * songRate)

    /// A singer, whose microphone hears the loudspeaker.
    final class Singer {
        let name: String
        let player: SongPlayer
        let writer: CallRecordingWriter
        let folder: String
        var state: RecordedCallState
        var takePath: String { "\(folder)/\(name).take" }

        init(
            _ name: String, song: String, processor: CallProcessor, _ recording: CallRecording,
            hasSeparateMicrophone: Bool = false, calibrated: CalibratedDelay? = nil
        ) throws {
            self.name = name
            player = try SongPlayer(
                path: song, channelCount: 1, deviceRate: 48_000, hash: SongFile.hash(song, limit: .max).hash)
            processor.scheduledSong.set(CallInsert(callback: player.memory.callback, owner: player.memory))
            state = RecordedCallState(name: name)
            state.hasSeparateMicrophone = hasSeparateMicrophone
            state.calibratedDelay = calibrated
            folder = try RecordingFolder.create(
                NSTemporaryDirectory() + "earshot-sung-\(UUID().uuidString)", room: "Blue Room")
            writer = try CallRecordingWriter(recording, folder: folder, .exact, state: state, room: "Blue Room")
            writer.beginTake(player.makeLog())
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }
    }

    var simulation: CallSimulation
    private(set) var singers: [Singer] = []

    /// - Parameters:
    ///   - drifts: the deviation of each card's rate in ppm.
    ///   - roundTrip: the frames from a card's output to its input; it reports 256.
    ///   - calibrated: the measured delay of the cards.
    init(drifts: [Double], roundTrip: Int = 256, calibrated: CalibratedDelay? = nil) throws {
        var configuration = CallSimulation.Configuration()
        configuration.codec = .pcm
        configuration.network = NetworkProfile()
        configuration.keepsFrom = 0
        configuration.longestSkip = 1
        configuration.peers = drifts.map { drift in
            var peer = CallSimulation.Configuration.Peer()
            peer.driftPPM = drift
            peer.sound = SimulatedSound { _, _ in 0 }
            return peer
        }
        simulation = try CallSimulation(configuration)
        let song = try Self.writeSong()
        defer { try? FileManager.default.removeItem(atPath: song) }
        for (index, peer) in simulation.peers.enumerated() {
            peer.echo = [(frames: roundTrip, gain: 1)]
            for other in simulation.peers where other !== peer { peer.setGain(0, of: other.id) }
            singers.append(
                try Singer(
                    ["Anna", "Ben"][index], song: song, processor: peer.processor, peer.record(),
                    calibrated: calibrated))
        }
    }

    /// Two sweeps, so that each position has its own sound.
    static func song(at seconds: Double) -> Double {
        0.2 * sin(2 * .pi * (200 + 40 * seconds) * seconds) + 0.1 * sin(2 * .pi * (631 + 17 * seconds) * seconds)
    }

    /// Writes the song and returns its path.
    static func writeSong() throws -> String {
        let path = NSTemporaryDirectory() + "earshot-song-\(UUID().uuidString).wav"
        let file = try AudioFileWriter(
            path: path, format: AudioFormat(sampleRate: songRate, channelCount: 1), sampleFormat: .float32)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: songLength)
        for i in 0..<songLength { buffer.channels[0][i] = Float(song(at: Double(i) / songRate)) }
        try file.write(buffer.channels, frameCount: songLength)
        try file.close()
        return path
    }

    /// Runs the call, with a turn of the songs' threads every 50 ms and of the recorders every 150 ms.
    func run(until seconds: Double) throws {
        while simulation.elapsed < seconds {
            try simulation.run(until: min(seconds, simulation.elapsed + 0.05))
            for singer in singers { _ = singer.player.work() }
            guard Int((simulation.elapsed / 0.05).rounded()) % 3 == 0 else { continue }
            for singer in singers {
                singer.writer.update(singer.state, at: simulation.now)
                singer.writer.writeArrivedSound(at: simulation.now)
            }
        }
    }

    /// Ends a singer's program without a last turn of its threads. Returns a copy of its recording's folder.
    func kill(_ index: Int) throws -> String {
        let copy = NSTemporaryDirectory() + "earshot-killed-\(UUID().uuidString)"
        try FileManager.default.copyItem(atPath: singers[index].folder, toPath: copy)
        simulation.peers[index].processor.scheduledSong.set(nil)
        singers.remove(at: index)
        return copy
    }

    /// Begins a killed singer's program again.
    func comeBack(_ index: Int) throws {
        let song = try Self.writeSong()
        defer { try? FileManager.default.removeItem(atPath: song) }
        let peer = simulation.peers[index]
        singers.insert(
            try Singer(["Anna", "Ben"][index], song: song, processor: peer.processor, peer.record()), at: index)
    }

    func finish() {
        for singer in singers {
            _ = singer.player.work()
            _ = singer.writer.finish(at: simulation.now)
        }
    }

    /// Renders a stem. Returns its samples and the greatest distance of its sound from the song's in frames.
    static func misalignment(_ stem: StemRenderer) throws -> (samples: [Float], error: Double) {
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: songLength)
        _ = try stem.read(into: buffer.channels, frameCount: songLength)
        let samples = Array(UnsafeBufferPointer(start: buffer.channels[0], count: songLength))
        return (samples, try misalignment(samples, gaps: stem.gaps))
    }

    /// Returns the greatest distance of sound from the song's in frames. Each distance is measured over 50 ms with sound.
    static func misalignment(_ samples: [Float], gaps: [Range<Int64>]) throws -> Double {
        var (largest, count) = (0.0, 0)
        let length = 2_205
        for start in stride(from: 0, to: songLength - length, by: length) {
            let frames = Int64(start)..<Int64(start + length)
            if gaps.contains(where: { $0.overlaps(frames) }) { continue }
            // The least squares of stem = gain * song + distance * slope of the song.
            var (songs, slopes, mixed, songLevel, slopeLevel) = (0.0, 0.0, 0.0, 0.0, 0.0)
            for i in start..<start + length {
                let seconds = Double(i) / songRate
                let (heard, sung) = (Double(samples[i]), song(at: seconds))
                let slope = (song(at: seconds + 1e-6) - song(at: seconds - 1e-6)) / 2e-6 / songRate
                (songs, slopes, mixed) = (songs + sung * sung, slopes + slope * slope, mixed + sung * slope)
                (songLevel, slopeLevel) = (songLevel + heard * sung, slopeLevel + heard * slope)
            }
            // Parts in a fade are not measured.
            guard songLevel > 0.5 * songs else { continue }
            let distance = (slopeLevel * songs - songLevel * mixed) / (slopes * songs - mixed * mixed)
            largest = max(largest, abs(distance))
            count += 1
        }
        guard count > 40 else { throw TooShort(count: count) }
        return largest
    }

    /// Renders a stem. Returns the frames by which its sound is later than the song, up to 500.
    static func lag(_ stem: StemRenderer) throws -> Int {
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: songLength)
        _ = try stem.read(into: buffer.channels, frameCount: songLength)
        let frames = 60_000..<64_000
        let sung = (frames.lowerBound - 500..<frames.upperBound + 500).map { song(at: Double($0) / songRate) }
        func likeness(_ lag: Int) -> Double {
            frames.reduce(0) { $0 + Double(buffer.channels[0][$1]) * sung[$1 - lag - frames.lowerBound + 500] }
        }
        return (-500...500).max { likeness($0) < likeness($1) } ?? 0
    }

    struct TooShort: Error { let count: Int }
}

/// A singer with two devices, on virtual time, without others.
final class SeparateSingerRig {
    private let processor = CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup())
    private let singer: SungCallRig.Singer
    private let input = AudioBuffer(channelCount: 1, frameCapacity: 64)
    private let output = AudioBuffer(channelCount: 1, frameCapacity: 64)
    private let playedRate: Double
    /// The seconds by which a callback may be early or late.
    private let jitter: Double
    private var random = SeededRandom(seed: 6)
    private var loops = (output: DelayLockedLoop(sampleRate: 48_000), input: DelayLockedLoop(sampleRate: 48_000))
    private var heard: [Float] = []
    private let latency = (input: 0.007, output: 0.021)
    var folder: String { singer.folder }

    /// - Parameter drift: the deviation of the playing device's clock in ppm.
    init(drift: Double, jitter: Double = 0) throws {
        playedRate = 48_000 * (1 + drift * 1e-6)
        self.jitter = jitter
        let recording = CallRecording(of: processor, sampleRate: 48_000, channelCount: 1)
        recording.begin()
        let song = try SungCallRig.writeSong()
        defer { try? FileManager.default.removeItem(atPath: song) }
        singer = try SungCallRig.Singer(
            "Anna", song: song, processor: processor, recording, hasSeparateMicrophone: true)
    }

    func run(seconds: Double) throws {
        singer.player.play(from: SongPosition(units: 0), at: time(0.5))
        var (played, captured, turn) = (0, 0, 0)
        while true {
            let (playTime, captureTime) = (Double(played) / playedRate, Double(captured) / 48_000)
            let now = min(playTime, captureTime)
            while now >= 0.05 * Double(turn) {
                _ = singer.player.work()
                if turn % 3 == 0 { singer.writer.writeArrivedSound(at: time(now)) }
                turn += 1
            }
            if now >= seconds { break }
            if playTime <= captureTime {
                play(played, playTime)
                played += 64
            } else {
                capture(captured, captureTime)
                captured += 64
            }
        }
        _ = singer.player.work()
        _ = singer.writer.finish(at: time(seconds))
    }

    private func time(_ seconds: Double) -> HostTime {
        HostTime(nanoseconds: 5_000_000_000).advanced(bySeconds: seconds)
    }

    private func play(_ frame: Int, _ seconds: Double) {
        clearSamples(output.channels[0], 64)
        var cycle = IOCycle(
            frameCount: 64, sampleTime: Int64(frame), hostTime: time(seconds), inputLatency: 0,
            outputLatency: latency.output, input: Channels(input.channels.pointers, count: 0), output: output.channels)
        delay(&cycle, &loops.output)
        processor.playbackCallback(&cycle)
        heard += UnsafeBufferPointer(start: output.channels[0], count: 64)
    }

    private func capture(_ frame: Int, _ seconds: Double) {
        for i in 0..<64 {
            let left = seconds + Double(i) / 48_000 - latency.input - latency.output
            let position = max(0, left * playedRate)
            let whole = Int(position)
            guard whole + 1 < heard.count else {
                input.channels[0][i] = 0
                continue
            }
            input.channels[0][i] = heard[whole] + Float(position - Double(whole)) * (heard[whole + 1] - heard[whole])
        }
        var cycle = IOCycle(
            frameCount: 64, sampleTime: 1_000_000 + Int64(frame), hostTime: time(seconds),
            inputLatency: latency.input, outputLatency: 0, input: input.channels,
            output: Channels(output.channels.pointers, count: 0))
        delay(&cycle, &loops.input)
        processor.captureCallback(&cycle)
    }

    /// Makes a callback early or late, as a device reports it.
    private func delay(_ cycle: inout IOCycle, _ loop: inout DelayLockedLoop) {
        guard jitter > 0 else { return }
        let start = cycle.hostTime.advanced(bySeconds: jitter * (2 * random.unit() - 1))
        cycle.hostTime = loop.update(sampleTime: cycle.sampleTime, now: start)
        cycle.lateness = start.seconds(since: cycle.hostTime)
    }
}
