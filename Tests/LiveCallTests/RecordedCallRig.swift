// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport
import Foundation
import Testing

@testable import EarshotLiveCall
@testable import EarshotSimulation

/// A call that Ann records, with Bob and Cid humming.
final class RecordedCallRig {
    var simulation: CallSimulation
    let writer: CallRecordingWriter
    var state: RecordedCallState
    let folder: String

    init(
        people: Int = 3, _ settings: CallRecordingSettings = .exact, longestSkip: Double = 0,
        _ change: (inout RecordedCallState) -> Void = { _ in }
    ) throws {
        var configuration = CallSimulation.Configuration()
        configuration.codec = .pcm
        configuration.network = NetworkProfile()
        configuration.keepsFrom = 0
        configuration.longestSkip = longestSkip
        configuration.peers = (0..<people).map { end in
            var peer = CallSimulation.Configuration.Peer()
            peer.blockFrameCount = 128
            peer.sound = SimulatedSound { frame, _ in Self.sound(end, frame) }
            return peer
        }
        simulation = try CallSimulation(configuration)
        state = RecordedCallState(name: "Ann", key: CoreRig.key(1))
        for end in 1..<people {
            state.participants.append(
                RecordedParticipant(
                    peer: PeerID(end), key: CoreRig.key(UInt64(end + 1)), name: ["Ann", "Bob", "Cid"][end],
                    allowsRecording: true, isPresent: true))
        }
        change(&state)
        let recording = try simulation.peers[0].record()
        folder = try RecordingFolder.create(
            NSTemporaryDirectory() + "earshot-recording-\(UUID().uuidString)", room: "Blue Room")
        writer = try CallRecordingWriter(recording, folder: folder, settings, state: state, room: "Blue Room")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// A sweep, different for each end, that is never the same twice.
    static func sound(_ end: Int, _ frame: Int) -> Float {
        let seconds = Double(frame) / 48_000
        return Float(0.2 * sin(2 * .pi * (200 + 90 * Double(end) + 40 * seconds) * seconds))
    }

    /// Runs the call, with a turn of the recorder every 150 ms.
    func run(until seconds: Double) throws {
        while simulation.elapsed < seconds {
            try simulation.run(until: min(seconds, simulation.elapsed + 0.15))
            for index in state.participants.indices {
                let playout = simulation.peers[0].playout(of: state.participants[index].peer)?.statistics
                state.participants[index].liveDepth = playout.flatMap { $0.isStarted ? $0.targetDepth : nil }
            }
            writer.update(state, at: simulation.now)
            writer.writeArrivedSound(at: simulation.now)
        }
    }

    /// Changes the state of the call from now on.
    func change(_ body: (inout RecordedCallState) -> Void) {
        body(&state)
        writer.update(state, at: simulation.now)
    }

    func finish() -> CallRecordingResult {
        let result = writer.finish(at: simulation.now)
        writer.tagFiles()
        return result
    }

    var files: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } }

    /// Reads a file of a complete recording, which has a frame for each frame of the recording.
    func samples(_ file: String) throws -> [Float] {
        let samples = try readSamples("\(folder)/\(file)")
        let count = try manifest.tracks.first?.frameCount
        try #require(samples.count == count, "\(file)")
        return samples
    }

    var manifest: RecordingManifest {
        get throws {
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/recording.json"))
            return try JSONDecoder().decode(RecordingManifest.self, from: data)
        }
    }

    func track(_ file: String) throws -> RecordingManifest.Track {
        try #require(try manifest.tracks.first { $0.file == file })
    }

    /// Returns the frame of Ann's sound at frame 0 of her file, if every sample of it is hers.
    func offset(of file: String) throws -> Int {
        let samples = try samples(file)
        let (first, last) = (10_000, samples.count - 10_000)
        try #require(last > first)
        let offset = try #require(
            (-4_000...4_000).first { offset in
                (first..<first + 16).allSatisfy { samples[$0] == Self.sound(0, $0 + offset) }
            }, "\(file) has another sound")
        try #require((first..<last).allSatisfy { samples[$0] == Self.sound(0, $0 + offset) })
        return offset
    }

    /// Expects that a file lies where the local participant heard the call.
    func expectHeard(_ samples: [Float], at seconds: Double, within frames: Int = 96) throws {
        let heard = simulation.peers[0].heard[0]
        let first = Int(seconds * 48_000)
        try #require(first > 2_000 && first + 12_000 < min(heard.count, samples.count))
        var best = (shift: 0, difference: Double.infinity)
        for shift in -960...960 {
            var (error, energy) = (0.0, 0.0)
            for n in stride(from: first, to: first + 9_600, by: 3) {
                error += Double((samples[n + shift] - heard[n]) * (samples[n + shift] - heard[n]))
                energy += Double(heard[n] * heard[n])
            }
            if error / energy < best.difference { best = (shift, error / energy) }
        }
        #expect(abs(best.shift) <= frames && best.difference < 0.05, "\(best) at \(seconds) s")
    }
}
