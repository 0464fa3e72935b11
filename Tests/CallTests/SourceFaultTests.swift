// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotSimulation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// The faults that the source documents admit (SEEDS S0.7, S3.3 to S3.6), shown to be impossible here.
@Suite(.optimized) struct SourceFaultTests {
    @Test func `packets over 1,024 bytes arrive whole`() throws {
        // Eight packets of 64 kb/s, 1,486 bytes, were copied into a buffer of 1,024. 588 frames of PCM are 1,188 bytes with RTP.
        var setup = CallSetup(codec: .pcm, blocks: (588, 588))
        setup.says = { frame, _ in sine(frame, frequency: 440, rate: 48_000) }
        var rig = try CallSimulation(setup)
        try rig.run(until: 3)
        #expect(rig.traffic.largestDatagram == 24 + 588 * 2)
        for end in rig.peers {
            #expect(sineDefect(Array(end.heard[0].suffix(48_000)), frequency: 440, rate: 48_000) < -60)
            #expect(end.statistics.corruptPackets == 0)
        }
    }

    @Test func `a block too long for one packet is split evenly and heard completely`() throws {
        var setup = CallSetup(codec: .pcm, channelCount: 2, blocks: (1024, 1024))
        setup.says = { frame, _ in sine(frame, frequency: 440, rate: 48_000) }
        var rig = try CallSimulation(setup)
        try rig.run(until: 3)
        let blocks = rig.peers[0].history.count
        #expect(rig.traffic.largestDatagram == 24 + 256 * 4)
        #expect(abs(rig.peers[0].statistics.rtp.packetsSent - 4 * blocks) <= 4)
        #expect(sineDefect(Array(rig.peers[1].heard[1].suffix(48_000)), frequency: 440, rate: 48_000) < -60)
    }

    @Test(arguments: [Codec.pcm, .opus, .aac]) func `a network stall leaves no extra delay`(codec: Codec) throws {
        // The packet list grew without limit, so the delay only increased. Here the network holds everything for 400 ms.
        var rig = try CallSimulation(CallSetup(codec: codec))
        rig.network.events = [.stall(10..<10.4)]
        try rig.run(until: 40)
        for end in rig.peers {
            let before = try #require(end.history.last { $0.elapsed < 10 }).statistics.delay
            let worst = end.history.filter { $0.elapsed > 10.5 }.map(\.statistics.delay).max() ?? 1
            #expect(worst < before + 0.155)
            #expect(end.playout.statistics.delay < before + 0.001)
            #expect(end.statistics.rtp.packetsMissing == 0)
        }
    }

    @Test(arguments: [Codec.pcm, .opus, .aac])
    func `a media thread held up for a second resumes live and counts the dropped frames`(codec: Codec) throws {
        var rig = try CallSimulation(CallSetup(codec: codec))
        rig.peers[0].stalls = [10..<11]
        try rig.run(until: 40)
        let lost = rig.peers[0].statistics.captureLostFrames
        // The ring holds half a second; after an overrun its whole content is stale.
        #expect(abs(lost - 48_000) <= 2_048 + 256, "\(lost) frames lost")
        let before = try #require(rig.peers[1].history.last { $0.elapsed < 10 }).statistics.delay
        #expect(abs(rig.peers[1].playout.statistics.delay - before) < 0.002)
        #expect(rig.peers[1].statistics.rtp.packetsMissing == 0, "what was never sent is not lost on the way")
    }

    @Test func `PCM packets of odd or broken lengths never shift a stream by part of a frame`() throws {
        var setup = CallSetup(codec: .pcm, channelCount: 2)
        setup.says = { frame, channel in channel == 0 ? sine(frame, frequency: 440, rate: 48_000) : 0 }
        var rig = try CallSimulation(setup)
        try rig.run(until: 1)
        for size in 13...25 {
            var datagram = [UInt8](repeating: 0x55, count: size)
            datagram[0] = 0x80
            datagram[1] = rig.peers[0].configuration.payloadType
            rig.peers[0].receive(datagram)
        }
        try rig.run(until: 3)
        let end = rig.peers[0]
        #expect(sineDefect(Array(end.heard[0].suffix(48_000)), frequency: 440, rate: 48_000) < -60)
        #expect(end.heard[1].suffix(48_000).allSatisfy { abs($0) < 1e-4 }, "the channels have not changed places")
    }

    @Test func `a call flows whichever peer is ready first`() throws {
        // One side's streams never opened if the other was ready first.
        for late in 0..<2 {
            var rig = try CallSimulation(CallSetup(codec: .opus))
            rig.peers[late].stalls = [0..<3]
            try rig.run(until: 8)
            for end in rig.peers {
                #expect(end.playout.statistics.isStarted)
                let heard = end.heard(5..<7).samples
                #expect(heard.contains { abs($0) > 0.3 })
            }
        }
    }

    @Test func `44,100 Hz against 48,000 Hz keeps the pitch in both directions`() throws {
        var setup = CallSetup(codec: .pcm, rates: (44_100, 48_000))
        setup.says = { frame, _ in sine(frame, frequency: 440, rate: 44_100) }
        setup.guestSays = { frame, _ in sine(frame, frequency: 440, rate: 48_000) }
        var rig = try CallSimulation(setup)
        try rig.run(until: 20)
        for end in rig.peers {
            let heard = end.heard(14..<19).samples
            let rate = end.configuration.deviceRate
            #expect(abs(sineFrequency(heard, near: 440, rate: rate) / 440 - 1) < 100e-6)
            #expect(sineDefect(heard, frequency: 440, rate: rate) < -55)
        }
    }

    @Test func `an outage is played as silence, not as stale sound`() throws {
        var setup = CallSetup(codec: .pcm)
        // A louder steady tone is tested for feedback, and playout takes the test for background noise.
        setup.says = { frame, _ in 0.2 * sine(frame, frequency: 440, rate: 48_000) }
        var rig = try CallSimulation(setup)
        try rig.run(until: 2)
        rig.network.events = [.outage(2..<100)]
        try rig.run(until: 4)
        for end in rig.peers {
            let samples = end.heard(2.2..<3.9).samples
            let last = samples.lastIndex { abs($0) >= 1e-6 }
            #expect(last == nil, "\(samples[last ?? 0]) after \(Double(last ?? 0) / 48_000) s")
        }
    }

    @Test func `a media thread that slept too long drops captured frames beyond 50 ms`() throws {
        var rig = try CallSimulation(CallSetup(codec: .pcm))
        rig.peers[0].stalls = [2..<2.03]  // less than 50 ms: nothing is dropped
        try rig.run(until: 4)
        #expect(rig.peers[0].statistics.captureLostFrames == 0)
        rig.peers[0].stalls = [4..<4.2]
        try rig.run(until: 6)
        let lost = rig.peers[0].statistics.captureLostFrames
        // 200 ms arrived, at most 50 were kept.
        #expect(lost > Int(0.13 * 48_000) && lost < Int(0.17 * 48_000), "\(lost)")
    }
}
