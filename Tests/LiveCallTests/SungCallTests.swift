// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport
import Foundation
import TestTraits
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotSimulation

/// Takes of a song that are recorded in a call: real render callbacks, a real recording, on virtual time.
@Suite(.optimized) struct SungCallTests {
    private func hostTime(_ rig: SungCallRig, _ seconds: Double) -> HostTime {
        rig.simulation.start.advanced(bySeconds: seconds)
    }

    @Test func `two singers' takes line up with the song and with each other`() throws {
        let rig = try SungCallRig(drifts: [150, -150])
        try rig.run(until: 1)
        for singer in rig.singers { singer.player.play(from: SongPosition(units: 0), at: hostTime(rig, 1.5)) }
        try rig.run(until: 4)
        for singer in rig.singers { singer.player.pause(at: hostTime(rig, 4.3)) }
        try rig.run(until: 5)
        for singer in rig.singers { singer.player.resume(at: hostTime(rig, 5.4)) }
        try rig.run(until: 7)
        // Anna's device skips 0.2 s, and Ben sings a passage again.
        rig.simulation.peers[0].skipCycles(for: 0.2)
        try rig.run(until: 8)
        rig.singers[1].player.seek(to: SongPosition(frame: 2 * 44_100), at: hostTime(rig, 8.5))
        try rig.run(until: 10)
        // A killed program loses at most a second.
        let saved = try Take(path: rig.singers[0].takePath)
        #expect(saved.map.end > Int64(9 * 48_000) && saved.skippedLineCount == 0, "\(saved.map.end)")
        rig.finish()

        var stems: [[Float]] = []
        for singer in rig.singers {
            #expect(singer.player.state.missingFrameCount == 0 && singer.player.state.failure == nil)
            let stem = try StemRenderer(path: singer.takePath, frameCount: SungCallRig.songLength)
            let (samples, error) = try SungCallRig.misalignment(stem)
            print("\(singer.name): largest misalignment \(error) frames of the song, gaps \(stem.gaps)")
            #expect(error < 0.25)
            stems.append(samples)
        }
        let anna = try Take(path: rig.singers[0].takePath)
        #expect(anna.map.gaps.contains { $0.reason == .device })
        #expect(!anna.map.gaps.contains { $0.reason == .underrun })
        // Outside gaps and fades both stems have the same sound.
        var largest: Float = 0
        for frame in 10_000..<80_000 { largest = max(largest, abs(stems[0][frame] - stems[1][frame])) }
        #expect(largest < 0.01, "\(largest)")
    }

    @Test func `a take's map is private, named in the description, and an earlier one stays`() throws {
        let rig = try SungCallRig(drifts: [0, 0])
        try rig.run(until: 1)
        let singer = rig.singers[0]
        singer.player.play(from: SongPosition(units: 0), at: hostTime(rig, 1.2))
        try rig.run(until: 2)
        singer.writer.endTake()
        singer.writer.beginTake(singer.player.makeLog())
        try rig.run(until: 3)
        rig.finish()
        let manifest = try RecordingManifest(inFolder: singer.folder)
        #expect(manifest.version == 1)
        // A mix needs no take.
        #expect(try MixSource(folder: singer.folder).voices.count == 1)
        #expect(manifest.tracks.first { $0.isLocal }?.takes == ["Anna.take", "Anna 2.take"])
        for (index, name) in ["Anna.take", "Anna 2.take"].enumerated() {
            let path = "\(singer.folder)/\(name)"
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let take = try Take(path: path)
            #expect(take.description.number == index + 1 && take.description.file == "Anna.wav")
            #expect(take.map.pieces.count > 0)
        }
        let (first, second) = (
            try Take(path: "\(singer.folder)/Anna.take"), try Take(path: "\(singer.folder)/Anna 2.take")
        )
        #expect((first.map.pieces.last?.end ?? 0) <= (second.map.pieces.first?.frame ?? 0))
    }

    @Test func `a device that reports its delay wrongly is corrected by its calibration`() throws {
        // The device reports 256 frames, and takes 5 ms more.
        let delay = CalibratedDelay(correction: 0.005, uncertainty: 0.0004)
        for calibrated in [nil, delay] {
            let rig = try SungCallRig(drifts: [80, -80], roundTrip: 256 + 240, calibrated: calibrated)
            try rig.run(until: 1)
            for singer in rig.singers { singer.player.play(from: SongPosition(units: 0), at: hostTime(rig, 1.5)) }
            try rig.run(until: 6)
            rig.finish()
            for singer in rig.singers {
                let description = try Take(path: singer.takePath).description
                #expect(description.latencySource == (calibrated == nil ? "reported" : "measured"))
                #expect(description.uncertainty == calibrated?.uncertainty)
                let stem = try StemRenderer(path: singer.takePath, frameCount: SungCallRig.songLength)
                let lag = try SungCallRig.lag(stem)
                #expect(lag == (calibrated == nil ? Int((0.005 * SungCallRig.songRate).rounded()) : 0))
            }
        }
    }

    @Test func `the measured delay of the device in use corrects what it reports`() {
        var device = CallDevice(.headphones)
        (device.inputLatency, device.outputLatency) = (0.003, 0.004)
        let delay = CalibratedDelay(correction: 0.002, uncertainty: 0.0004)
        for (knowledge, latency) in [
            (DelayKnowledge.reported, 0.007), (.measured(delay), 0.009),
            (.stale(CalibratedDevice(device)), 0.007),
        ] {
            device.delayKnowledge = knowledge
            var snapshot = LiveCallSnapshot(admission: .ask, sound: .waiting)
            snapshot.device = device
            let state = RecordedCallState(snapshot, LiveCallLevels())
            #expect(abs(state.deviceLatency - latency) < 1e-9)
            #expect(state.calibratedDelay == knowledge.delay)
        }
    }

    @Test(arguments: [(drift: 100.0, jitter: 0.0), (-100, 0), (100, 0.000_1), (-100, 0.000_1)])
    func `the take of a separate microphone lines up, too`(drift: Double, jitter: Double) throws {
        let rig = try SeparateSingerRig(drift: drift, jitter: jitter)
        try rig.run(seconds: 9)
        let stem = try StemRenderer(path: "\(rig.folder)/Anna.take", frameCount: SungCallRig.songLength)
        let error = try SungCallRig.misalignment(stem).error
        print("separate microphone: largest misalignment \(error) frames of the song")
        #expect(error < 0.25)
    }
}
