// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotPlayout
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall
@testable import EarshotSimulation

/// A call that is recorded with a long, safe playout delay while the user hears it with a short one.
@Suite(.optimized) struct CallRecordingTests {
    /// A call of two with the delay setting 'sing', without redundancy, in which the first may record.
    private func call(
        _ codec: Codec, _ network: NetworkProfile, records: Bool, seconds: Double = 15
    ) throws -> (simulation: CallSimulation, recording: CallRecording?) {
        var configuration = CallSimulation.Configuration()
        configuration.codec = codec
        configuration.opusFrameMilliseconds = 10
        configuration.keepsFrom = 0
        configuration.network = network
        configuration.latencyProfile = .sing
        configuration.startsEmpty = true
        var simulation = try CallSimulation(configuration)
        var random = SeededRandom(seed: 2)
        for (end, other) in [(0, 1), (1, 0)] {
            var form = try #require(simulation.negotiated[end][other])
            form.repair = RTPRepair()
            try simulation.peers[end].add(
                PeerID(other), session: CallSimulation.session(form, &random), form)
            simulation.isIn[end] = true
        }
        let recording = records ? try simulation.peers[0].record() : nil
        var now = 0.0
        while now < seconds {
            now += 0.3  // the recorder is in no hurry
            try simulation.run(until: min(now, seconds))
            while recording?.read({ _, _, _ in }) != nil {}
        }
        return (simulation, recording)
    }

    @Test(arguments: [Codec.pcm, .opus, .opusCustom, .aac], [NetworkProfile.wifiCongested, .independent(0.05)])
    func `packets too late for playback are recorded, and only lost packets are concealed there`(
        codec: Codec, network: NetworkProfile
    ) throws {
        let plain = try call(codec, network, records: false)
        let (simulation, recording) = try call(codec, network, records: true)
        let (here, peer) = (simulation.peers[0], PeerID(1))
        #expect(here.heard == plain.simulation.peers[0].heard, "the ears hear what they would hear alone")
        let ears = here.playout.statistics
        #expect(ears.depth < 0.025, "\(ears.depth)")
        let recorded = try #require(recording?.statistics(of: peer))
        let counted = here.statistics
        #expect(here.configuration.codec == codec)
        // Packets on their way at the end have not arrived yet.
        let lost = counted.rtp.packetsMissing * here.configuration.framesPerPacket
        // The difference of the clocks is corrected during concealment.
        let madeUp = recorded.concealedFrames - recorded.insertedFrames
        #expect(madeUp <= lost, "\(madeUp) of \(lost) lost")
        #expect(madeUp > lost * 8 / 10 - 2_000 && recorded.latePackets == 0)
        #expect(recorded.droppedFrames + recorded.insertedFrames + recorded.stretchedFrames < 480, "\(recorded)")
        #expect(abs(recorded.depth - CallRecording.depth) < 0.005, "\(recorded.depth)")
        #expect(recording?.rejectedPackets(of: peer) == 0)
        if network == .wifiCongested {
            #expect(ears.concealedFrames + ears.stretchedFrames > recorded.concealedFrames + 4_800)
        }
        print(
            codec, network == .wifiCongested ? "congested" : "iid-5",
            "lost \(lost) frames, ears \(ears.concealedFrames)",
            "at \(ears.depth * 1e3) ms, recording \(recorded.concealedFrames) at \(recorded.depth * 1e3) ms")
    }

    @Test func `a retransmission too late for playback is in time for the recording`() throws {
        var repair = RTPRepair()
        (repair.repeated, repair.takesNACK) = (100, true)
        var configuration = RepairRig.configuration(.pcm, frames: 240, repair: repair)
        configuration.latencyProfile = .sing
        var rig = try RepairRig(configuration)
        rig.way = lossy(0.05, delay: 0.040)
        rig.ends[0].core.setBudget(0, for: RepairRig.other)  // nothing is repeated unasked
        let here = rig.ends[1]
        let processor = CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup())
        let cycles = processor.cycles
        let recording = CallRecording(of: processor, sampleRate: 48_000, channelCount: 1)
        let listener = try recording.listener(to: configuration)
        recording.replace(RepairRig.other, by: listener)
        here.core.listen(listener, to: RepairRig.other)
        var (ears, recorded) = (PlayoutStatistics(), PlayoutStatistics())
        for block in 1...2_400 {
            try rig.run(until: Double(block) * 0.005)
            cycles.writer.push(
                CallCycle(
                    sampleTime: Int64(here.pulled), frameCount: 240,
                    hostTime: HostTime(nanoseconds: 5_000_000_000).advanced(bySeconds: rig.now)))
            while recording.read({ _, _, _ in }) != nil {}
            if block == 800 {
                (ears, recorded) = (here.playout.statistics, try #require(recording.statistics(of: RepairRig.other)))
            }
        }
        let now = try #require(recording.statistics(of: RepairRig.other))
        let missed = here.playout.statistics.concealedFrames - ears.concealedFrames
        #expect(missed > 50 * 240, "the round trip is 80 ms, and the ears wait for 15 at most")
        #expect(here.playout.statistics.depth < 0.017)
        #expect(here.statistics.recoveredPackets > 50)
        #expect(now.concealedFrames - recorded.concealedFrames < missed / 20)
        #expect(now.recoveredPackets - recorded.recoveredPackets > 50)
    }

    @Test func `a recording contains frames the device skipped, and a leaving participant to the end`() throws {
        var configuration = RoomSetup(codec: .pcm, count: 3) { end, frame in
            sine(frame, frequency: 300 + 110 * Double(end), rate: 48_000, amplitude: 0.1)
        }.configuration
        configuration.longestSkip = 0.3
        var simulation = try CallSimulation(configuration)
        for end in 0..<3 { try simulation.enter(end) }
        let recording = try simulation.peers[0].record()
        var read: [PeerID: Int64] = [:]  // up to which frame
        var frames: (first: Int64?, count: Int64) = (nil, 0)
        func readAll() {
            var heard: [PeerID] = []
            while let cycle = recording.read({ peer, _, _ in heard.append(peer) }) {
                if let first = frames.first {
                    #expect(first + frames.count == cycle.sampleTime, "no frame is left out")
                }
                frames = (frames.first ?? cycle.sampleTime, frames.count + Int64(cycle.frameCount))
                for peer in heard { read[peer] = cycle.sampleTime + Int64(cycle.frameCount) }
                heard = []
            }
        }
        for step in 1...40 {
            if step == 20 { simulation.peers[0].skipCycles(for: 0.2) }
            if step == 30 {
                recording.remove(PeerID(2))
                try simulation.leave(2)
            }
            try simulation.run(until: 0.1 * Double(step))
            readAll()
        }
        #expect(frames.count > 180_000)
        #expect(try #require(recording.statistics(of: PeerID(1))).concealedFrames == 0)
        #expect(recording.statistics(of: PeerID(2)) == nil, "it was read to its end")
        let (gone, here) = (try #require(read[PeerID(2)]), try #require(read[PeerID(1)]))
        // Left at 2.9 s, and read for the depth and 0.25 s more; the recording ends at 4 s.
        let expected = 1.1 - CallRecording.depth - 0.25
        #expect(abs(Double(here - gone) - expected * 48_000) < 0.06 * 48_000, "\(here - gone)")
    }

    // MARK: In real time

    @Test(.realTime) func `a session records participants who are present, join or renegotiate`() throws {
        let calls = try (0..<3).map { try LiveCall($0) }
        for call in calls { try call.start() }
        defer { for call in calls { call.stop() } }
        let (a, b, c) = (calls[0], calls[1], calls[2])
        try a.call(b)
        let recording = try a.session.startRecording()
        try a.call(c)
        var heard: [PeerID: Float] = [:]
        func hears(_ peer: LiveCall) -> Bool {
            heard[peer.id] = 0
            return eventually {
                while let cycle = recording.read({ id, sound, _ in
                    for i in 0..<128 { heard[id] = max(heard[id] ?? 0, abs(sound[0][i])) }
                }) { #expect(cycle.frameCount > 0) }
                return (heard[peer.id] ?? 0) > 0.08
            }
        }
        #expect(hears(b) && hears(c))
        try a.describe(b) { $0.formats.removeAll { $0.codec != .pcm } }
        #expect(hears(b))
        let isStarted = eventually {
            _ = recording.read { _, _, _ in }
            return recording.statistics(of: b.id)?.isStarted == true
        }
        #expect(isStarted)
        #expect(recording.rejectedPackets(of: b.id) == 0)
        let another = try a.session.startRecording()
        #expect(recording.read { _, _, _ in } == nil && recording.statistics(of: b.id) == nil)
        #expect(another.statistics(of: c.id) != nil)
        a.session.endRecording()
        #expect(another.read { _, _, _ in } == nil && another.statistics(of: c.id) == nil)
    }
}
