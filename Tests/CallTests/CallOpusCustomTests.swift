import AudioBase
import AudioCodecs
import MediaTransport
import TestSupport
import Testing

@testable import Call

/// Calls in Opus Custom on virtual time: their delay, blocks and rates that differ, loss, and packets that are none.
@Suite struct CallOpusCustomTests {
    private func setup(
        _ codec: Codec = .opusCustom, frame: Double? = nil, rates: (Double, Double) = (48_000, 48_000),
        blocks: (Int, Int) = (64, 64), drifts: (Double, Double) = (0, 0)
    ) -> CallRig.Setup {
        CallRig.Setup(
            codec: codec, opusFrameMilliseconds: frame, rates: rates, blocks: blocks, drifts: drifts,
            says: { frame, channel in murmur(frame, voice: UInt64(channel)) })
    }

    /// Mouth to ear each way, the network's delay of 0.1 ms in it.
    private func delays(_ setup: CallRig.Setup, from seconds: Double = 14) throws -> [Double] {
        var rig = try CallRig(setup)
        rig.network.delay = 0.0001
        try rig.run(until: seconds + 4)
        return try (0..<2).map { try rig.mouthToEar(from: $0, seconds..<(seconds + 3)).milliseconds }
    }

    @Test func `with blocks of 64 it takes a block more than PCM, and Opus in packets of 2.5 ms longer`() throws {
        let pcm = try delays(setup(.pcm))
        let custom = try delays(setup())
        let opus = try delays(setup(.opus, frame: 2.5))
        for way in 0..<2 {
            print("mouth to ear, 64 frames: PCM \(pcm[way]), Opus Custom \(custom[way]), Opus \(opus[way]) ms")
            #expect(abs(custom[way] - pcm[way] - 64 / 48.0) < 0.7)  // blocks may meet otherwise
            #expect(custom[way] < 7.5 && opus[way] < 10.5 && custom[way] < opus[way] - 2)
        }
    }

    /// What the two ends' blocks and the codec cannot do without, in milliseconds: both blocks, the card's, the overlap,
    /// the resampler's half, the margin; where a rate is converted the filter before the encoder and what a frame lies
    /// across blocks.
    @Test(
        arguments: [
            ((48_000.0, 48_000.0), (64, 128)), ((48_000, 48_000), (128, 64)), ((48_000, 48_000), (256, 64)),
            ((44_100, 48_000), (64, 64)), ((48_000, 44_100), (64, 64)), ((44_100, 44_100), (64, 128)),
            ((44_100, 48_000), (256, 128)), ((96_000, 44_100), (128, 470)),
        ]) func `blocks and rates may differ`(rates: (Double, Double), blocks: (Int, Int)) throws
    {
        var rig = try CallRig(setup(rates: rates, blocks: blocks, drifts: (60, -60)))
        rig.network.delay = 0.0001
        try rig.run(until: 18)
        for end in 0..<2 {
            let statistics = rig.ends[end].statistics
            let playout = rig.ends[end].playout.statistics
            #expect(statistics.rtp.packetsMissing == 0 && statistics.corruptPackets == 0)
            #expect(playout.missingPackets == 0 && playout.restarts == 0)
            let started = rig.ends[end].history.last { $0.elapsed < 4 }?.statistics
            #expect(playout.concealedFrames == started?.concealedFrames, "nothing made up after the start")
            let (from, to) = (rig.ends[1 - end].configuration, rig.ends[end].configuration)
            let sent = Double(from.deviceBlock) / from.deviceRate
            let played = Double(to.deviceBlock) / to.deviceRate
            let converts = from.deviceRate != from.streamRate
            let frame = 64 / from.streamRate
            let isWhole = !converts && from.deviceBlock % 64 == 0
            let least = sent + 2 * played + frame + 0.0004 + 0.0005
            let most = least + (converts ? 0.0008 : 0) + (isWhole ? 0 : frame) + max(sent, played) + 0.001
            let delay = try rig.mouthToEar(from: 1 - end, 14..<17).milliseconds
            print(
                "Opus Custom \(from.deviceRate)/\(from.deviceBlock) to \(to.deviceRate)/\(to.deviceBlock): \(delay) ms")
            #expect(delay > least * 1e3 - 0.3 && delay < most * 1e3, "\(least * 1e3) to \(most * 1e3)")
        }
    }

    @Test(arguments: [64, 128, 256]) func `2 % of loss is made up, counted, and heard by nobody else`(
        block: Int
    ) throws {
        var rig = try CallRig(setup(blocks: (block, block)))
        rig.network.loss = 0.02
        try rig.run(until: 10)
        for end in 0..<2 {
            let statistics = rig.ends[end].statistics
            let playout = rig.ends[end].playout.statistics
            let lost = statistics.rtp.packetsMissing
            let packets = 10 * 48_000 / block
            #expect(lost > packets / 100 && lost < packets * 3 / 100)
            #expect(abs(playout.missingPackets - lost) <= 2 && statistics.corruptPackets == 0)
            #expect(abs(playout.concealedFrames - lost * block) <= 4 * block)
            let heard = rig.ends[end].heard[0]
            #expect(heard.allSatisfy { $0.isFinite && abs($0) < 1 })
            let delay = try rig.mouthToEar(from: 1 - end, 6..<9)
            #expect(delay.confidence > 0.3)
        }
    }

    /// Every tenth packet has other bytes: any bytes under the right length, or a head and a length that fit nothing.
    @Test(arguments: [1, 2] as [UInt64]) func `hostile payloads are counted or decoded, and what follows is sound`(
        seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        let configuration = try CallRig.negotiate(setup()).host
        let end = try CallEnd(
            configuration, driftPPM: 0, session: nil, keepsFrom: 0, longestSkip: 0, says: { _, _ in 0 })
        var receiver = SeededRandom(seed: seed + 10)
        try end.add(CallEnd.other, session: CallRig.session(configuration, &receiver))
        var sender = CallRig.session(configuration, &random)
        let encoder = try OpusCustomEncoder(sampleRate: 48_000, channelCount: 1, bitRate: 160_000)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 64)
        let start = HostTime(nanoseconds: 1_000_000_000)
        end.card.renderer.start(at: start)
        var corrupt = 0
        var datagram = [UInt8](repeating: 0, count: 2_048)
        for n in 0..<3_000 {
            for i in 0..<64 { block.channels[0][i] = sine(n * 64 + i, frequency: 440, rate: 48_000) }
            var payload = [UInt8](repeating: 1, count: encoder.frameByteCount + 1)
            try payload.withUnsafeMutableBytes { try encoder.encode(block.channels, into: $0.baseAddress! + 1) }
            let isGood = n >= 2_000 || n % 10 != 5
            if !isGood {
                switch Int(random.next() % 4) {
                case 0: payload = [UInt8](repeating: 0, count: Int(random.next() % 3))
                case 1: payload[0] = UInt8(truncatingIfNeeded: 2 + random.next() % 254 | 1)
                case 2: payload.removeLast(payload.count - 5)
                default: for i in 1..<payload.count { payload[i] = UInt8(truncatingIfNeeded: random.next()) }
                }
                let isCorrupt = payload.withUnsafeBytes { (try? OpusCustomPayload(parsing: $0)) == nil }
                corrupt += isCorrupt ? 1 : 0
            }
            let now = start.advanced(bySeconds: Double(n * 64) / 48_000)
            let count = payload.withUnsafeBytes { payload in
                datagram.withUnsafeMutableBytes {
                    sender.packetize(payload, position: n * 64, marker: n == 0, at: now, into: $0)
                }
            }
            end.receive(Array(datagram[..<count]))
            try end.runMedia(at: now, elapsed: Double(n * 64) / 48_000) { _, _ in }
            if end.nextCallTime <= now { end.runCycle(at: now, elapsed: Double(n * 64) / 48_000) }
        }
        #expect(end.statistics.corruptPackets == corrupt && corrupt > 100)
        #expect(end.heard[0].allSatisfy(\.isFinite))
        #expect(sineDefect(Array(end.heard[0].suffix(24_000)), frequency: 440, rate: 48_000) < -25)
    }
}
