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
    /// A call of the recording Ann with Bob and Cid, who hum.
    private struct Rig {
        var simulation: CallSimulation
        let writer: CallRecordingWriter
        var party: RecordingParty
        let folder: String

        init(
            people: Int = 3, _ settings: CallRecordingSettings = .float, longestSkip: Double = 0,
            deviceLatency: Double = 0
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
            folder = NSTemporaryDirectory() + "earshot-recording-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            party = RecordingParty(name: "Ann", key: CoreRig.key(1))
            party.deviceLatency = deviceLatency
            for end in 1..<people {
                party.participants.append(
                    RecordedParticipant(
                        peer: PeerID(end), key: CoreRig.key(UInt64(end + 1)), name: ["Ann", "Bob", "Cid"][end],
                        allowsRecording: true, isPresent: true))
            }
            writer = try CallRecordingWriter(
                try simulation.peers[0].record(depth: CallSession.recordingDepth), folder: folder, settings,
                party: party, room: "Blue Room")
        }

        /// A sweep, different for each end, that is never the same twice.
        static func sound(_ end: Int, _ frame: Int) -> Float {
            let seconds = Double(frame) / 48_000
            return Float(0.2 * sin(2 * .pi * (200 + 90 * Double(end) + 40 * seconds) * seconds))
        }

        /// Runs the call, with a turn of the recorder every 150 ms.
        mutating func run(until seconds: Double) throws {
            while simulation.elapsed < seconds {
                try simulation.run(until: min(seconds, simulation.elapsed + 0.15))
                for index in party.participants.indices {
                    let playout = simulation.peers[0].playout(of: party.participants[index].peer)?.statistics
                    party.participants[index].liveDepth = playout.flatMap { $0.isStarted ? $0.targetDepth : nil }
                }
                writer.update(party)
                writer.work(at: simulation.now)
            }
        }

        func finish() -> CallRecordingResult { writer.finish(at: simulation.now) }

        func samples(_ file: String) throws -> [Float] { try CallRecordingWriterTests.samples("\(folder)/\(file)") }

        func manifest() throws -> RecordingManifest {
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/recording.json"))
            return try JSONDecoder().decode(RecordingManifest.self, from: data)
        }

        func track(_ file: String) throws -> RecordingManifest.Track {
            try #require(try manifest().tracks.first { $0.file == file })
        }

        func delete() { try? FileManager.default.removeItem(atPath: folder) }
    }

    private static func samples(_ path: String) throws -> [Float] {
        let reader = try SoundFiles.open(path)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 4_096)
        var all: [Float] = []
        while true {
            let count = try reader.read(into: block.channels, frameCount: block.frameCapacity)
            all += UnsafeBufferPointer(start: block.channels[0], count: count)
            if count < block.frameCapacity { return all }
        }
    }

    /// Returns the shift of `a` that makes it most like `b` around a frame, and the remaining difference as a part of `b`.
    private static func alignment(_ a: [Float], _ b: [Float], around frame: Int) -> (shift: Int, difference: Double) {
        var best = (shift: 0, difference: Double.infinity)
        for shift in -960...960 {
            var (error, energy) = (0.0, 0.0)
            for n in stride(from: frame, to: frame + 9_600, by: 3) {
                error += Double((a[n + shift] - b[n]) * (a[n + shift] - b[n]))
                energy += Double(b[n] * b[n])
            }
            if error / energy < best.difference { best = (shift, error / energy) }
        }
        return best
    }

    @Test func `a remote voice is where the local participant heard it, and the local voice is dry and exact`() throws {
        var rig = try Rig(people: 2)
        defer { rig.delete() }
        try rig.run(until: 8)
        let result = rig.finish()
        #expect(result.gapSeconds < 0.6 && abs(result.seconds - 8) < 0.05, "\(result)")
        let (ann, bob) = (try rig.samples("Ann.wav"), try rig.samples("Bob.wav"))
        let count = Int((result.seconds * 48_000).rounded())
        #expect(try ann.count == count && bob.count == count && rig.samples("mix.wav").count == count)
        let heard = rig.simulation.peers[0].heard[0]
        for seconds in [2, 4, 6] {
            let (shift, difference) = Self.alignment(bob, heard, around: seconds * 48_000)
            // The live delay still falls in the first seconds, and the recording does not move with it.
            #expect(abs(shift) <= (seconds < 4 ? 240 : 96), "\(shift) frames at \(seconds) s")
            #expect(difference < 0.01, "\(difference) at \(seconds) s")
        }
        // Ann's own frames begin at a whole block and are hers to the bit.
        let start = try #require(
            (0..<2_000).first { Rig.sound(0, $0) == ann[48_000] || Rig.sound(0, 48_000 + $0) == ann[48_000] })
        let offset = Rig.sound(0, start) == ann[48_000] ? start - 48_000 : start
        #expect((100..<count - 2_000).allSatisfy { ann[$0] == Rig.sound(0, $0 + offset) }, "offset \(offset)")
    }

    @Test func `the mix is the sum of the voices with their volumes, and a volume changes without a click`() throws {
        var rig = try Rig()
        defer { rig.delete() }
        try rig.run(until: 3)
        rig.party.participants[0].volume = 0.25
        try rig.run(until: 6)
        _ = rig.finish()
        let (ann, bob, cid) = (try rig.samples("Ann.wav"), try rig.samples("Bob.wav"), try rig.samples("Cid.wav"))
        let mix = try rig.samples("mix.wav")
        func error(_ range: Range<Int>, _ gain: Float) -> Float {
            range.reduce(0) { max($0, abs(mix[$1] - ann[$1] - gain * bob[$1] - cid[$1])) }
        }
        #expect(error(24_000..<110_000, 1) < 1e-6 && error(160_000..<280_000, 0.25) < 1e-6)
        let volumes = try rig.track("Bob.wav").volumes
        #expect(volumes.map(\.gain) == [1, 0.25] && abs((volumes.last?.frame ?? 0) - 144_000) < 9_600, "\(volumes)")
        let step = (1..<mix.count).reduce(Float(0)) { max($0, abs(mix[$1] - mix[$1 - 1])) }
        #expect(step < 0.08, "the sweeps themselves rise by less a frame")
    }

    @Test func `a voice is silence until its participant allows the recording, and after it declines`() throws {
        var rig = try Rig()
        defer { rig.delete() }
        rig.party.participants[0].allowsRecording = nil
        rig.party.participants[1].allowsRecording = false
        try rig.run(until: 2)
        rig.party.participants[0].allowsRecording = true
        try rig.run(until: 5)
        rig.party.participants[0].allowsRecording = false
        try rig.run(until: 7)
        let result = rig.finish()
        let (bob, cid) = (try rig.samples("Bob.wav"), try rig.samples("Cid.wav"))
        #expect(cid.allSatisfy { $0 == 0 } && bob.count == cid.count)
        let gaps = try rig.track("Bob.wav").gaps
        #expect(gaps.map(\.reason) == [.undecided, .declined], "\(gaps)")
        for gap in gaps {
            #expect(bob[gap.frame..<gap.frame + gap.frameCount].allSatisfy { $0 == 0 })
        }
        #expect(bob[100_000..<200_000].contains { abs($0) > 0.15 })
        #expect(try rig.track("Cid.wav").gaps.map(\.frameCount) == [cid.count])
        #expect(result.gapSeconds > 9)
        let mix = try rig.samples("mix.wav")
        let ann = try rig.samples("Ann.wav")
        let other = (0..<80_000).first { abs(mix[$0] - ann[$0]) > 1e-6 }
        #expect(other == nil, "frame \(other ?? 0) of the mix is not Ann's")
    }

    @Test func `a participant who leaves, returns under another number and changes the name has one file`() throws {
        var rig = try Rig()
        defer { rig.delete() }
        try rig.run(until: 2)
        let bob = rig.party.participants.remove(at: 0)
        try rig.run(until: 4)
        rig.party.participants.append(bob)
        rig.party.participants[1].name = "Benjamin"
        try rig.run(until: 6)
        rig.party.participants[0].peer = PeerID(9)  // whose media is not open yet
        rig.party.participants[0].isPresent = false
        try rig.run(until: 7)
        _ = rig.finish()
        let files = try FileManager.default.contentsOfDirectory(atPath: rig.folder).sorted()
        #expect(files == ["Ann.wav", "Bob.wav", "Cid.wav", "mix.wav", "recording.json"])
        let track = try rig.track("Bob.wav")
        #expect(track.names == ["Bob", "Benjamin"] && track.gaps.map(\.reason) == [.away], "\(track)")
        let gap = try #require(track.gaps.first)
        #expect(abs(gap.frameCount - 96_000) < 9_600, "\(gap)")
        #expect(try rig.track("Cid.wav").gaps.map(\.reason) == [.away])
        // The voice lies where it was heard before leaving and after the return: both others are what was played.
        let sum = zip(try rig.samples("Bob.wav"), try rig.samples("Cid.wav")).map { $0 + $1 }
        for frame in [80_000, 230_000] {
            let (shift, difference) = Self.alignment(sum, rig.simulation.peers[0].heard[0], around: frame)
            #expect(abs(shift) <= 96 && difference < 0.05, "\(shift), \(difference)")
        }
    }

    @Test func `a gap of the device of any length is silence in its place`() throws {
        var rig = try Rig(people: 2, longestSkip: 4)
        defer { rig.delete() }
        try rig.run(until: 2)
        rig.simulation.peers[0].skipCycles(for: 3)
        try rig.run(until: 8)
        let result = rig.finish()
        #expect(abs(result.seconds - 8) < 0.05, "\(result)")
        let gaps = try rig.track("Ann.wav").gaps
        #expect(gaps.count == 1 && gaps[0].reason == .device && abs(gaps[0].frameCount - 144_000) < 1_000, "\(gaps)")
        // Bob's voice was received meanwhile and is recorded.
        let bob = try rig.samples("Bob.wav")
        let quiet = stride(from: 48_000, to: 340_000, by: 480).filter { start in
            (start..<start + 480).allSatisfy { abs(bob[$0]) < 0.05 }
        }
        #expect(quiet.isEmpty, "\(quiet)")
        #expect(Self.alignment(bob, rig.simulation.peers[0].heard[0], around: 300_000).difference < 0.05)
    }

    @Test(arguments: AudioFileType.allCases)
    func `a recording that was killed has all but the last second, in every format`(type: AudioFileType) throws {
        var settings = CallRecordingSettings()
        settings.type = type
        var rig = try Rig(people: 2, settings)
        defer { rig.delete() }
        try rig.run(until: 6)
        let copies = rig.folder + "-killed"
        try FileManager.default.copyItem(atPath: rig.folder, toPath: copies)
        defer { try? FileManager.default.removeItem(atPath: copies) }
        let files = try FileManager.default.contentsOfDirectory(atPath: copies).filter { $0 != "recording.json" }
        #expect(files.count == 3)
        for file in files {
            let seconds = Double(try Self.samples("\(copies)/\(file)").count) / 48_000
            #expect(seconds > 5 && seconds < 6.2, "\(file): \(seconds) s")
        }
        #expect(FileManager.default.fileExists(atPath: "\(copies)/recording.json"))
        _ = rig.finish()
    }

    @Test func `divided files continue each other, and the raw voice is a file of its own`() throws {
        var settings = CallRecordingSettings.float
        settings.partDuration = 1
        settings.recordsRawVoice = true
        var rig = try Rig(people: 2, settings)
        defer { rig.delete() }
        try rig.run(until: 3.5)
        let result = rig.finish()
        let track = try rig.track("Bob-001.wav")
        #expect(track.parts == 4 && result.paths.count == 12, "\(result.paths)")
        for part in 1...3 { #expect(try rig.samples("Bob-00\(part).wav").count == 48_000) }
        for part in 1...4 {
            #expect(try rig.samples("Ann-00\(part).wav") == rig.samples("Ann raw-00\(part).wav"))
        }
    }

    @Test func `the files and their description are for their owner only, and tell room and name`() throws {
        var rig = try Rig()
        defer { rig.delete() }
        try rig.run(until: 1.5)
        _ = rig.finish()
        for file in try FileManager.default.contentsOfDirectory(atPath: rig.folder) {
            #expect(PathText.status("\(rig.folder)/\(file)")?.st_mode == S_IFREG | 0o600, "\(file)")
        }
        let tags = try AudioFileTags(path: "\(rig.folder)/Bob.wav")
        #expect(tags.artist == "Bob" && tags.album == "Blue Room")
        let manifest = try rig.manifest()
        #expect(manifest.version == 1 && manifest.recordedBy == "Ann" && manifest.room == "Blue Room")
        #expect(manifest.tracks.map(\.kind) == [.voice, .voice, .voice, .mix])
        #expect(manifest.tracks.map(\.key)[2] == CoreRig.key(3).hex)
        #expect(Set(manifest.tracks.map(\.frameCount)).count == 1)
    }
}

extension CallRecordingSettings {
    fileprivate static var float: CallRecordingSettings {
        var settings = CallRecordingSettings()
        settings.encoding.sampleFormat = .float32
        return settings
    }
}
