// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotLiveCall
@testable import EarshotSimulation

/// The recording of a simulated call, on virtual time: real packets, real files.
@Suite(.optimized) struct CallRecordingWriterTests {
    /// Frames of a turn of the recorder, 150 ms: the accuracy of what is noted between two turns.
    private static let turn = 7_200

    // MARK: The timeline

    @Test func `a remote voice is where the local participant heard it, and the local voice is exact`() throws {
        let rig = try RecordedCallRig(people: 2)
        try rig.run(until: 8)
        let result = rig.finish()
        #expect(abs(result.seconds - 8) < 0.05 && result.gapSeconds < 0.5, "\(result)")
        let bob = try rig.samples("Bob.wav")
        // The live delay still falls in the first seconds, and the recording does not move with it.
        try rig.expectHeard(bob, at: 2, within: 240)
        for seconds in [4.0, 6.0] { try rig.expectHeard(bob, at: seconds) }
        #expect(try abs(rig.offset(of: "Ann.wav")) <= 512, "within four blocks of the beginning")
        #expect(try rig.track("Bob.wav").offset?.contains == .recordingDepth)
    }

    @Test func `latency moves the local voice, and that of voice processing only the dry voice`() throws {
        var settings = CallRecordingSettings.exact
        settings.recordsRawVoice = true
        let plain = try RecordedCallRig(people: 2, settings)
        try plain.run(until: 2)
        let plainSeconds = plain.finish().seconds
        let base = try plain.offset(of: "Ann.wav")
        #expect(try plain.offset(of: "Ann raw.wav") == base)
        let rig = try RecordedCallRig(people: 2, settings) { ($0.deviceLatency, $0.processingLatency) = (0.01, 0.03) }
        try rig.run(until: 2)
        // The raw voice ends last; nothing is added to it.
        #expect(abs(plainSeconds - rig.finish().seconds - 0.01) < 0.001)
        #expect(try rig.offset(of: "Ann.wav") == base + 1_920 && rig.offset(of: "Ann raw.wav") == base + 480)
        #expect(try rig.track("Ann.wav").offset == .init(seconds: 0.04, contains: .deviceLatency))
    }

    @Test func `a new latency moves the local voice once, and its jitter does not`() throws {
        let rig = try RecordedCallRig(people: 2) { $0.deviceLatency = 0.02 }
        try rig.run(until: 2)
        for step in 1...8 {
            rig.change { $0.deviceLatency = 0.02 + (step % 2 == 0 ? 0.002 : -0.002) }
            try rig.run(until: 2 + 0.15 * Double(step))
        }
        // During a change of the device the latency is 0.
        rig.change { $0.deviceLatency = 0 }
        try rig.run(until: 4)
        rig.change { $0.deviceLatency = 0.01 }
        try rig.run(until: 6)
        _ = rig.finish()
        let gaps = try rig.track("Ann.wav").gaps
        #expect(gaps.map(\.frameCount) == [480] && gaps.map(\.reason) == [.device], "\(gaps)")
    }

    @Test func `a gap of the device of any length is silence in its place, and others are recorded meanwhile`() throws {
        let rig = try RecordedCallRig(people: 2, longestSkip: 4)
        try rig.run(until: 2)
        rig.simulation.peers[0].skipCycles(for: 3)
        try rig.run(until: 8)
        let result = rig.finish()
        #expect(abs(result.seconds - 8) < 0.05, "\(result)")
        let gaps = try rig.track("Ann.wav").gaps
        try #require(gaps.count == 1, "\(gaps)")
        #expect(gaps[0].reason == .device && abs(gaps[0].frameCount - 144_000) < 1_000, "\(gaps)")
        #expect(abs(gaps[0].frame - 96_000) < 1_000, "\(gaps)")
        let bob = try rig.samples("Bob.wav")
        let quiet = stride(from: 48_000, to: 340_000, by: 480).filter { start in
            (start..<start + 480).allSatisfy { abs(bob[$0]) < 0.05 }
        }
        #expect(quiet.isEmpty, "\(quiet)")
        // After the gap live playback is later for some seconds, and the recording does not move with it.
        try rig.expectHeard(bob, at: 6.5, within: 480)
    }

    @Test func `a local voice that is read too late is a gap, and exact around it`() throws {
        let rig = try RecordedCallRig(people: 2)
        try rig.run(until: 2)
        try rig.simulation.run(until: 6)  // a disk that is stuck for 4 s
        try rig.run(until: 9)
        _ = rig.finish()
        let (ann, mix) = (try rig.samples("Ann.wav"), try rig.samples("mix.wav"))
        let gap = try #require(try rig.track("Ann.wav").gaps.first)
        #expect(gap.reason == .device && gap.frameCount > 48_000, "\(gap)")
        let bob = try rig.samples("Bob.wav")
        let end = gap.frame + gap.frameCount
        let offset = try #require((-512...512).first { ann[20_000] == RecordedCallRig.sound(0, 20_000 + $0) })
        for frame in Array(10_000..<gap.frame) + Array(end..<420_000) {
            try #require(ann[frame] == RecordedCallRig.sound(0, frame + offset), "\(frame)")
        }
        #expect((10_000..<420_000).allSatisfy { abs(mix[$0] - ann[$0] - bob[$0]) < 1e-6 })
    }

    // MARK: Participants

    @Test func `a voice is silence until its participant allows the recording, and after it declines`() throws {
        let rig = try RecordedCallRig {
            $0.participants[0].allowsRecording = nil
            $0.participants[1].allowsRecording = false
        }
        try rig.run(until: 2)
        rig.change { $0.participants[0].allowsRecording = true }
        try rig.run(until: 5)
        rig.change { $0.participants[0].allowsRecording = false }
        try rig.run(until: 7)
        let result = rig.finish()
        let (ann, bob, cid) = (
            try rig.samples("Ann.wav"), try rig.samples("Bob.wav"), try rig.samples("Cid.wav")
        )
        #expect(cid.allSatisfy { $0 == 0 })
        let gaps = try rig.track("Bob.wav").gaps
        try #require(gaps.map(\.reason) == [.undecided, .declined], "\(gaps)")
        // The block at that time ends at most 128 frames later.
        #expect(gaps[0].frame == 0 && abs(gaps[0].frameCount - 96_000) <= 256, "\(gaps)")
        #expect(abs(gaps[1].frame - 240_000) <= 256 && gaps[1].frame + gaps[1].frameCount == bob.count, "\(gaps)")
        for gap in gaps { #expect(bob[gap.frame..<gap.frame + gap.frameCount].allSatisfy { $0 == 0 }) }
        // The first and the last frames of a fade are below -60 dBFS.
        let edges = [gaps[0].frameCount, gaps[1].frame - 2, gaps[1].frame - 1]
        #expect(edges.allSatisfy { abs(bob[$0]) < 0.001 }, "\(edges.map { bob[$0] })")
        #expect(bob[100_000..<200_000].contains { abs($0) > 0.15 })
        let declined = try rig.track("Cid.wav").gaps
        #expect(declined.map(\.frameCount) == [cid.count] && declined.map(\.reason) == [.declined])
        #expect(abs(result.gapSeconds - 11) < 0.1, "\(result)")
        let mix = try rig.samples("mix.wav")
        let other = (Array(0..<95_000) + Array(241_000..<mix.count)).first { abs(mix[$0] - ann[$0]) > 1e-6 }
        #expect(other == nil, "frame \(other ?? 0) of the mix is not Ann's")
    }

    @Test func `a participant who returns under another number and name has one file`() throws {
        let rig = try RecordedCallRig { ($0.participants[0].peer, $0.participants[0].isPresent) = (PeerID(9), false) }
        try rig.run(until: 2)
        rig.change {
            ($0.participants[0].peer, $0.participants[0].isPresent) = (PeerID(1), true)
            $0.participants[0].name = "Benjamin"
        }
        try rig.run(until: 5)
        let bob = rig.state.participants[0]
        rig.change { $0.participants.remove(at: 0) }
        try rig.run(until: 7)
        rig.change { $0.participants.append(bob) }
        try rig.run(until: 9)
        _ = rig.finish()
        #expect(try rig.files == ["Ann.wav", "Bob.wav", "Cid.wav", "mix.wav", "recording.json"])
        let track = try rig.track("Bob.wav")
        #expect(track.name == "Benjamin" && track.names == ["Bob", "Benjamin"])
        try #require(track.gaps.map(\.reason) == [.away, .away], "\(track.gaps)")
        #expect(abs(track.gaps[0].frameCount - 96_000) <= 256, "\(track.gaps)")
        #expect(abs(track.gaps[1].frame - 240_000) <= 256 && abs(track.gaps[1].frameCount - 96_000) <= 512)
        // Before leaving and after returning, the voice is at the frames where it was heard.
        let sum = zip(try rig.samples("Bob.wav"), try rig.samples("Cid.wav")).map { $0 + $1 }
        for seconds in [4.0, 8.0] { try rig.expectHeard(sum, at: seconds) }
    }

    @Test func `the file of a participant who joins later begins with a gap`() throws {
        let rig = try RecordedCallRig()
        let cid = rig.state.participants.removeLast()
        try rig.run(until: 3)
        rig.change { $0.participants.append(cid) }
        try rig.run(until: 6)
        _ = rig.finish()
        let track = try rig.track("Cid.wav")
        let gap = try #require(track.gaps.first)
        #expect(track.gaps.count == 1 && gap.frame == 0 && gap.reason == .away, "\(track.gaps)")
        #expect(abs(gap.frameCount - 144_000) < 2 * Self.turn, "\(gap)")
        #expect(track.volumes == [.init(frame: 0, gain: 1)])
        let sum = zip(try rig.samples("Bob.wav"), try rig.samples("Cid.wav")).map { $0 + $1 }
        try rig.expectHeard(sum, at: 5)
    }

    @Test func `participants beyond the limit are reported once, and the others are recorded`() throws {
        let rig = try RecordedCallRig(people: 2)
        rig.change { state in
            for number in 10..<10 + CallRecordingWriter.maximumParticipantCount + 1 {
                state.participants.append(
                    RecordedParticipant(
                        peer: PeerID(number), key: nil, name: "Eva", allowsRecording: true, isPresent: false))
            }
        }
        try rig.run(until: 1)
        #expect(rig.writer.takeErrors() == [.tooManyParticipants(limit: CallRecordingWriter.maximumParticipantCount)])
        #expect(try rig.files.count == CallRecordingWriter.maximumParticipantCount + 3)
        try rig.run(until: 1.5)
        #expect(rig.writer.takeErrors().isEmpty)
        _ = rig.finish()
    }

    // MARK: The mix

    @Test func `the mix is the sum of the voices with their volumes`() throws {
        let rig = try RecordedCallRig()
        try rig.run(until: 3)
        rig.change { $0.participants[0].volume = 0.25 }
        try rig.run(until: 6)
        _ = rig.finish()
        let (ann, bob, cid) = (
            try rig.samples("Ann.wav"), try rig.samples("Bob.wav"), try rig.samples("Cid.wav")
        )
        let mix = try rig.samples("mix.wav")
        func error(_ range: Range<Int>, _ gain: Float) -> Float {
            range.reduce(0) { max($0, abs(mix[$1] - ann[$1] - gain * bob[$1] - cid[$1])) }
        }
        #expect(error(24_000..<143_000, 1) < 1e-6 && error(145_000..<280_000, 0.25) < 1e-6)
        let volumes = try rig.track("Bob.wav").volumes
        #expect(volumes.map(\.gain) == [1, 0.25], "\(volumes)")
        #expect(volumes.last.map { abs($0.frame - 144_000) <= 256 } ?? false, "\(volumes)")
    }

    @Test func `a participant who is not heard is silent in the mix, and recorded in its own file`() throws {
        let rig = try RecordedCallRig(people: 2)
        try rig.run(until: 2)
        rig.change { $0.participants[0].volume = 0 }
        try rig.run(until: 4)
        rig.change { $0.participants[0].volume = 1 }
        try rig.run(until: 6)
        _ = rig.finish()
        let (ann, bob, mix) = (try rig.samples("Ann.wav"), try rig.samples("Bob.wav"), try rig.samples("mix.wav"))
        func error(_ range: Range<Int>, _ gain: Float) -> Float {
            range.reduce(0) { max($0, abs(mix[$1] - ann[$1] - gain * bob[$1])) }
        }
        #expect(error(24_000..<95_000, 1) < 1e-6 && error(97_000..<191_000, 0) < 1e-6)
        #expect(error(193_000..<280_000, 1) < 1e-6)
        #expect(bob[97_000..<191_000].contains { abs($0) > 0.15 })
        #expect(try rig.track("Bob.wav").volumes.map(\.gain) == [1, 0, 1] && rig.track("Bob.wav").gaps.isEmpty)
    }

    // MARK: Files

    @Test(arguments: AudioFileType.allCases)
    func `a recording that was killed has all but the last second, in every format`(type: AudioFileType) throws {
        var settings = CallRecordingSettings()
        settings.type = type
        let rig = try RecordedCallRig(people: 2, settings)
        try rig.run(until: 6)
        try rig.simulation.run(until: 6.14)  // just before the next turn
        let copies = rig.folder + "-killed"
        try FileManager.default.copyItem(atPath: rig.folder, toPath: copies)
        defer { try? FileManager.default.removeItem(atPath: copies) }
        let files = try rig.files.filter { $0 != "recording.json" }
        try #require(files.count == 3)
        for file in files {
            let samples = try readSamples("\(copies)/\(file)")
            let seconds = Double(samples.count) / 48_000
            #expect(seconds > 5.14 && seconds < 6.2, "\(file): \(seconds) s")
            try #require(samples.count > 200_000)
            #expect(samples[100_000..<200_000].contains { abs($0) > 0.1 }, "\(file)")
        }
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(copies)/recording.json"))
        #expect(try JSONDecoder().decode(RecordingManifest.self, from: data).tracks.count == 3)
        let result = rig.finish()
        for file in files {
            let count = try SoundFiles.info("\(rig.folder)/\(file)").frameCount
            #expect(abs(Double(count) / 48_000 - result.seconds) < 0.05, "\(file)")
        }
    }

    @Test func `divided files continue each other, and the raw voice is a file of its own`() throws {
        var settings = CallRecordingSettings.exact
        settings.partDuration = 1
        settings.recordsRawVoice = true
        let rig = try RecordedCallRig(people: 2, settings)
        try rig.run(until: 3.5)
        let result = rig.finish()
        let track = try rig.track("Ann-001.wav")
        #expect(track.parts == 4 && result.paths.count == 12, "\(result.paths)")
        for name in ["Ann", "Ann raw"] {
            var all: [Float] = []
            for part in 1...4 {
                let samples = try readSamples("\(rig.folder)/\(name)-00\(part).wav")
                #expect(samples.count == 48_000 || part == 4)
                all += samples
            }
            try #require(all.count == track.frameCount)
            let offset = try #require((-512...512).first { all[20_000] == RecordedCallRig.sound(0, 20_000 + $0) })
            #expect((10_000..<all.count - 10_000).allSatisfy { all[$0] == RecordedCallRig.sound(0, $0 + offset) })
        }
        #expect(try rig.track("Ann raw-001.wav").kind == .raw && rig.track("Ann raw-001.wav").volumes.isEmpty)
    }

    @Test func `the files are for their owner only, and tell room and name`() throws {
        let rig = try RecordedCallRig()
        try rig.run(until: 1.5)
        _ = rig.finish()
        let files = try rig.files
        try #require(files.count == 5)
        for file in files {
            #expect(PathText.status("\(rig.folder)/\(file)")?.st_mode == S_IFREG | 0o600, "\(file)")
        }
        let tags = try AudioFileTags(path: "\(rig.folder)/Bob.wav")
        #expect(tags.artist == "Bob" && tags.album == "Blue Room")
        let manifest = try rig.manifest
        #expect(manifest.version == 1 && manifest.recordedBy == "Ann" && manifest.room == "Blue Room")
        #expect(manifest.sampleRate == 48_000 && manifest.channelCount == 1 && manifest.clock == "playback")
        #expect(abs(manifest.zero - 5_000_000_000) < 20_000_000, "\(manifest.zero)")
        #expect(manifest.tracks.map(\.kind) == [.voice, .voice, .voice, .mix])
        #expect(manifest.tracks.map(\.key) == [1, 2, 3].map { CoreRig.key($0).hex } + [nil])
        #expect(Set(manifest.tracks.map(\.frameCount)).count == 1)
    }

    @Test func `the description is written when it changes, at most once a second, and not for lengths alone`() throws {
        let rig = try RecordedCallRig(people: 2)
        // Each writing replaces the file.
        func file() -> ino_t? { PathText.status("\(rig.folder)/recording.json")?.st_ino }
        try rig.run(until: 3)
        var files = [file()]
        try rig.run(until: 5)
        #expect(file() == files[0])
        for step in 1...10 {
            rig.change { $0.participants[0].volume = Float(step) / 20 }
            try rig.run(until: 5 + 0.15 * Double(step))
            files.append(file())
        }
        #expect(zip(files, files.dropFirst()).count { $0 != $1 } == 2, "\(files)")
        _ = rig.finish()
        #expect(try rig.track("Bob.wav").volumes.map(\.gain) == [1] + (1...10).map { Float($0) / 20 })
    }

    @Test func `the documented example has exactly the fields that are written`() throws {
        let page = try document("recording-format.md")
        let example = try #require(page.split(separator: "```json").last?.split(separator: "```").first)
        let manifest = try JSONDecoder().decode(RecordingManifest.self, from: Data(example.utf8))
        #expect(Self.keys(try JSONEncoder().encode(manifest)) == Self.keys(Data(example.utf8)))
    }

    /// Returns the paths of all fields; those of an array's elements together.
    private static func keys(_ data: Data) -> Set<String> {
        func collect(_ value: Any, _ path: String) -> Set<String> {
            switch value {
            case let object as [String: Any]:
                object.reduce(into: []) {
                    $0.formUnion(collect($1.value, "\(path)/\($1.key)").union(["\(path)/\($1.key)"]))
                }
            case let array as [Any]: array.reduce(into: []) { $0.formUnion(collect($1, path)) }
            default: []
            }
        }
        return (try? JSONSerialization.jsonObject(with: data)).map { collect($0, "") } ?? []
    }
}
