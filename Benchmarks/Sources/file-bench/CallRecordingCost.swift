// SPDX-License-Identifier: Apache-2.0

import BenchReports
import Foundation
import PairedTimes

@testable import EarshotAudioBase
@testable import EarshotAudioFiles
@testable import EarshotCall
@testable import EarshotLiveCall
@testable import EarshotMediaTransport
@testable import EarshotSimulation

/// The cost of recording a call of eight, in each format: the processor time of the recorder's thread, which decodes each voice a
/// second time, mixes, encodes and writes, with seven talking participants on virtual time.
enum CallRecordingCost {
    private static let types: [(type: AudioFileType, limit: Double)] = [
        (.rf64, 3), (.flac, 3), (.caf, 10), (.aiff, 10), (.vorbis, 10), (.opus, 10), (.mp3, 10), (.m4a, 10),
        (.adts, 10),
    ]

    static func figures(_ workshop: Workshop) throws -> [Report] {
        let seconds = workshop.isLong ? 30.0 : 6.0
        return try types.map { type, limit in
            let loads = try (0..<(workshop.isLong ? 5 : 3)).map { _ in
                try load(of: type, seconds: seconds, folder: workshop.path("call-\(UUID().uuidString)"))
            }
            return Report(
                "recording a call of eight, Opus of 10 ms, to nine files of \(type)", median(loads) * 100,
                least: loads.min().map { $0 * 100 }, "% of a core", .atMost(limit),
                against: "nothing; the call on virtual time, \(decimal(seconds, 0)) s")
        }
    }

    /// Returns the seconds of processor time of the recorder per second of the call.
    private static func load(of type: AudioFileType, seconds: Double, folder: String) throws -> Double {
        var configuration = CallSimulation.Configuration()
        configuration.codec = .opus
        configuration.opusFrameMilliseconds = 10
        configuration.peers = (0..<8).map { _ in CallSimulation.Configuration.Peer() }
        var simulation = try CallSimulation(configuration)
        var state = RecordedCallState(name: "Peer 0")
        state.participants = (1..<8).map {
            RecordedParticipant(
                peer: PeerID($0), key: nil, name: "Peer \($0)", allowsRecording: true, isPresent: true, liveDepth: 0.02)
        }
        try simulation.run(until: 1)
        var settings = CallRecordingSettings()
        settings.type = type
        let recording = try simulation.peers[0].record()
        let writer = try CallRecordingWriter(
            recording, folder: try RecordingFolder.create(folder, room: "Bench"), settings, state: state, room: "Bench")
        var used = 0.0
        let beginning = simulation.elapsed
        while simulation.elapsed < beginning + seconds {
            try simulation.run(until: simulation.elapsed + 0.15)
            let before = threadTime()
            writer.update(state, at: simulation.now)
            writer.writeArrivedSound(at: simulation.now)
            used += threadTime() - before
        }
        _ = writer.finish(at: simulation.now)
        guard writer.takeErrors().isEmpty else { fatalError("the recording failed") }
        try FileManager.default.removeItem(atPath: folder)
        return used / seconds
    }

    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
