// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotSimulation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Tests a call with bad networks and peers, without repair; RepairCallTests cover repair.
@Suite(.optimized) struct CallNetworkTests {
    static let codecs: [Codec] = [.pcm, .opus, .aac]

    private func setup(_ codec: Codec) -> CallSetup {
        var setup = CallSetup(codec: codec, repair: .none)
        if codec == .aac { setup.rates = (44_100, 44_100) }
        return setup
    }

    @Test(arguments: codecs) func `2 % packet loss is counted exactly at both ends`(codec: Codec) throws {
        var rig = try CallSimulation(setup(codec))
        try rig.run(until: 2)
        rig.network.loss = .independent(0.02)
        try rig.run(until: 32)
        rig.network.loss = .none
        try rig.run(until: 34)
        let statistics = rig.peers.map(\.statistics)
        #expect(rig.traffic.lostMedia > 20)
        #expect(statistics.map(\.rtp.packetsMissing).reduce(0, +) == rig.traffic.lostMedia)
        for end in 0..<2 {
            let sent = statistics[1 - end].rtp.packetsSent
            #expect(abs(statistics[end].rtp.packetsExpected - sent) <= 4)  // on their way
            // The remote peer reports it: its reports of the last seconds arrived.
            #expect(statistics[1 - end].rtp.remote?.cumulativeLost == statistics[end].rtp.packetsLost)
            let playout = rig.peers[end].playout.statistics
            #expect(playout.latePackets == 0 && playout.restarts == 0)
            let losses = statistics[end].rtp.packetsMissing
            let frames = rig.peers[end].configuration.framesPerPacket
            // AAC waits a millisecond for a packet that may have been reordered.
            let wait = codec == .aac ? losses * 60 : losses * 4
            #expect(playout.concealedFrames >= (losses - 1) * frames)
            #expect(playout.concealedFrames <= (losses + 1) * frames + wait)
        }
    }

    @Test(arguments: codecs) func `sound captured before the path opens does not delay the call`(
        codec: Codec
    ) throws {
        var rig = try CallSimulation(setup(codec))
        rig.peers[0].core.setOpen(false, to: PeerID(1))
        // The thread was busy with keys when the path opened.
        rig.peers[0].stalls = [0.1..<0.145]
        rig.events = [(at: 0.12, action: { $0.peers[0].core.setOpen(true, to: PeerID(1)) })]
        try rig.run(until: 1.5)
        let late = rig.peers[1].playout.statistics
        #expect(late.isStarted && late.depth < 0.012 && late.skips == 0, "\(late)")
    }

    @Test(arguments: codecs) func `duplicated and reordered packets cause no gaps in playout`(codec: Codec) throws {
        var rig = try CallSimulation(setup(codec))
        rig.network.duplication = 0.05
        rig.network.reordering = 0.05
        try rig.run(until: 30)
        let duplicates = rig.peers.map(\.statistics.rtp.packetsDuplicate).reduce(0, +)
        #expect(rig.traffic.duplicatedMedia > 20)
        #expect(abs(duplicates - rig.traffic.duplicatedMedia) <= 2)
        for end in rig.peers {
            #expect(end.statistics.rtp.packetsMissing <= 1)
            // Playout allows for packets 5 ms late once it has seen some.
            let early = end.history.last { $0.elapsed < 12 }?.statistics
            let late = end.playout.statistics
            #expect(late.missingPackets - (early?.missingPackets ?? 0) <= 2)
            #expect(late.delay < 0.040)
        }
    }

    @Test(arguments: codecs) func `jitter raises the delay once, and hardly any sound is concealed afterwards`(
        codec: Codec
    ) throws {
        var rig = try CallSimulation(setup(codec))
        rig.network.delay = .uniform(0.001...0.021)
        try rig.run(until: 40)
        for end in rig.peers {
            let early = end.history.last { $0.elapsed < 15 }?.statistics
            let late = end.playout.statistics
            #expect(late.concealedFrames - (early?.concealedFrames ?? 0) < Int(end.configuration.streamRate * 0.1))
            #expect(late.depth < 0.027)
        }
    }

    @Test(arguments: codecs) func `a peer that vanishes for ten seconds and returns is heard as before`(
        codec: Codec
    ) throws {
        var plan = setup(codec)
        let rate = plan.rates.0
        plan.says = { frame, _ in sine(frame, frequency: 440, rate: rate) }
        var rig = try CallSimulation(plan)
        rig.network.events = [.outage(10..<20)]
        try rig.run(until: 40)
        for end in rig.peers {
            let before = try #require(end.history.last { $0.elapsed < 10 }).statistics
            let silent = end.heard(13..<19.9).samples
            let peaks = (11..<20).map { second in
                end.heard(Double(second)..<Double(second) + 0.9).samples.map { abs($0) }.max() ?? 0
            }
            #expect(silent.allSatisfy { abs($0) < 1e-3 }, "silence while nobody is there: \(peaks)")
            #expect(abs(end.playout.statistics.delay - before.delay) < 0.002)
            let returned = end.heard(22..<24).samples
            #expect(sineDefect(returned, frequency: 440, rate: rate) < (codec == .pcm ? -50 : -30))
            // Exactly what was sent meanwhile is missing.
            let gap = 10.0 * end.configuration.streamRate / Double(end.configuration.framesPerPacket)
            #expect(abs(Double(end.statistics.rtp.packetsMissing) - gap) <= 2)
        }
    }

    @Test(arguments: codecs) func `a peer that restarts with another SSRC is heard again`(codec: Codec) throws {
        var rig = try CallSimulation(setup(codec))
        try rig.run(until: 5)
        rig.network.events = [.outage(5..<8)]
        try rig.run(until: 7.5)
        try rig.restart(1)
        try rig.run(until: 14)
        let rate = rig.peers[0].configuration.deviceRate
        for end in rig.peers {
            let heard = end.heard(10..<13).samples
            let level = heard.map { Double($0) * Double($0) }.reduce(0, +) / Double(max(1, heard.count))
            #expect(level > 0.05, "the sine is there again")
            #expect(sineDefect(heard, frequency: 440 * rate / 48_000, rate: rate) < (codec == .pcm ? -50 : -25))
        }
        #expect(rig.peers[0].playout.statistics.restarts == 1)
    }

    @Test func `a goodbye marks the remote peer as having left`() throws {
        var rig = try CallSimulation(CallSetup())
        try rig.run(until: 2)
        rig.sayGoodbye(0)
        try rig.run(until: 2.1)
        #expect(rig.peers[1].statistics.peerLeft)
        #expect(!rig.peers[0].statistics.peerLeft)
    }

    @Test func `packets that do not belong to the call are counted and ignored`() throws {
        var rig = try CallSimulation(CallSetup())
        try rig.run(until: 1)
        var random = SeededRandom(seed: 3)
        for size in [0, 1, 2, 11, 12, 13, 40, 1_500] {
            for _ in 0..<50 { rig.peers[0].receive((0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }) }
        }
        try rig.run(until: 3)
        let statistics = rig.peers[0].statistics
        #expect(statistics.rtp.packetsIgnored >= 350)
        #expect(statistics.rtp.packetsMissing == 0)
        #expect(rig.peers[0].playout.statistics.concealedFrames == 0)
    }
}
