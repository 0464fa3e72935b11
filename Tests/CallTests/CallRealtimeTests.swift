// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotSimulation
import TestSupport
import Testing

@testable import EarshotCall

/// The call's render side, through ``RenderCallback``. With EARSHOT_BUILD=rtsan, RealtimeSanitizer checks every path of it.
@Suite struct CallRealtimeTests {
    struct Form: CustomTestStringConvertible, Sendable {
        var codec: Codec
        var channelCount: Int
        var rates: (Double, Double)
        var block: Int
        var testDescription: String { "\(codec) ×\(channelCount), \(rates.0) Hz against \(rates.1), \(block)" }
    }
    static let forms = [
        Form(codec: .pcm, channelCount: 1, rates: (48_000, 48_000), block: 64),
        Form(codec: .pcm, channelCount: 2, rates: (44_100, 48_000), block: 470),
        Form(codec: .opus, channelCount: 1, rates: (48_000, 44_100), block: 128),
        Form(codec: .opus, channelCount: 2, rates: (48_000, 48_000), block: 1024),
        Form(codec: .opusCustom, channelCount: 1, rates: (48_000, 48_000), block: 64),
        Form(codec: .opusCustom, channelCount: 2, rates: (48_000, 44_100), block: 470),
        Form(codec: .aac, channelCount: 1, rates: (44_100, 44_100), block: 256),
        Form(codec: .aac, channelCount: 2, rates: (48_000, 32_000), block: 333),
    ]

    /// Loss, jitter, copies, reordering, a stall, silence, a restart, a flood and a card that skips, in one call.
    @Test(arguments: forms) func `callbacks neither block nor allocate, whatever the network and the device do`(
        form: Form
    ) throws {
        var setup = CallSetup(
            codec: form.codec, channelCount: form.channelCount, opusFrameMilliseconds: 5, rates: form.rates,
            blocks: (form.block, form.block), drifts: (300, -300))
        setup.says = { frame, _ in Float(frame % 100) * 0.005 - 0.25 }
        var rig = try CallSimulation(setup)
        rig.network.loss = .independent(0.1)
        rig.network.delay = .uniform(0.001...0.009)
        rig.network.duplication = 0.05
        rig.network.reordering = 0.1
        try rig.run(until: 0.8)
        rig.network.events = [.stall(0.8..<1.0)]
        try rig.run(until: 1.3)
        rig.peers[0].stalls = [1.3..<1.9]  // the capture ring overruns, the queue to playout runs dry
        try rig.run(until: 2.0)
        rig.network.events = [.outage(2.0..<3.2)]
        try rig.run(until: 3.1)
        try rig.restart(1)
        try rig.run(until: 4.0)
        rig.network.loss = .none
        rig.network.delay = .constant(0.001)
        rig.peers[0].skipCycles(for: 0.05)
        try rig.run(until: 4.6)
        let host = rig.peers[0].playout.statistics
        #expect(host.concealedFrames > 0 && host.restarts >= 1 && host.skips > 0)
        #expect(host.missingPackets + host.latePackets > 0 || form.codec == .aac)
        #expect(rig.peers[0].card.monitor.skippedFrameCount > 0)
        for end in rig.peers { #expect(end.heard.allSatisfy { $0.allSatisfy(\.isFinite) }) }
    }

    @Test func `no callback blocks or allocates on joining, leaving, renegotiation, muting or inserts`()
        throws
    {
        var rig = try CallSimulation(
            RoomSetup(codec: .opus, count: 4) { end, frame in speechLikeNoise(frame, voice: UInt64(end)) })
        for end in 0..<3 { try rig.enter(end) }
        try rig.run(until: 0.3)
        try rig.enter(3)
        try rig.run(until: 0.5)
        var pcm = rig.peers[0].configuration
        (pcm.codec, pcm.payloadType, pcm.framesPerPacket) = (.pcm, 98, 128)
        try rig.renegotiate(0, 1, pcm)
        rig.peers[0].processor.isMuted = true
        rig.peers[0].processor.captureInsert.set(TestInsert.make(scale: 0.5, delay: 100).insert)
        rig.peers[1].processor.playbackInsert.set(TestInsert.make(scale: 2).insert)
        rig.peers[1].processor.outputVolume = 0.5
        rig.peers[1].playout(of: PeerID(0))?.latencyProfile = .listen
        try rig.run(until: 0.7)
        try rig.renegotiate(0, 1, direction: .inactive)
        try rig.renegotiate(0, 2, direction: .sendOnly)
        rig.peers[0].setGain(0.5, of: PeerID(3))
        rig.peers[0].processor.captureInsert.set(TestInsert.make(scale: -1).insert)
        rig.peers[1].processor.playbackInsert.set(nil)
        try rig.run(until: 0.9)
        rig.peers[0].processor.isMuted = false
        try rig.renegotiate(0, 1)
        try rig.leave(3)
        try rig.run(until: 1.4)
        #expect(rig.peers[1].level(of: PeerID(0))?.isSpeaking == true)
        #expect(rig.peers[0].core.statistics(of: PeerID(3)) == nil)
    }
}
