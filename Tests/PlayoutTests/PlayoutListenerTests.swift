// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import TestSupport
import TestTraits
import Testing

@testable import EarshotPlayout

/// Two listeners to the same packets: the user, and a recorder that may be late and must miss nothing.
@Suite(.optimized) struct PlayoutListenerTests {
    static let networks: [NetworkProfile] = [
        .wifiCongested,
        NetworkProfile(name: "iid-5, reordered", jitter: .uniform(0.020...0.022), loss: 0.05, reordered: 0.2),
    ]
    static let forms: [PlayoutConfiguration] = [
        .pcm(latencyProfile: .sing), .decoded(frames: 1_024, latencyProfile: .sing),
        PlayoutConfiguration(
            coding: .opus, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: 480,
            latencyProfile: .sing),
        PlayoutConfiguration(
            coding: .opusCustom, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: 128,
            latencyProfile: .sing),
    ]

    private func rig(_ network: NetworkProfile, _ form: PlayoutConfiguration, seconds: Double = 12) -> PlayoutRig {
        var rig = PlayoutRig(configuration: form, seconds: seconds)
        rig.delay = network.delays(seed: 4)
        rig.says = voice
        return rig
    }

    @Test(arguments: networks, forms)
    func `the recording conceals only lost packets, and does not change playback`(
        network: NetworkProfile, form: PlayoutConfiguration
    ) throws {
        var rig = rig(network, form)
        let alone = try rig.run()
        let recorder = try RecordingRig(form)
        rig.before = recorder.follow
        rig.delay = network.delays(seed: 4)
        let ears = try rig.run()
        let isSame = ears.output == alone.output
        #expect(isSame, "the ears hear what they would hear alone")
        #expect(ears.statistics.concealedFrames == alone.statistics.concealedFrames)
        #expect(ears.statistics.depth < 0.025, "\(ears.statistics.depth)")
        let recorded = recorder.statistics
        let lost = ears.lost.count * form.framesPerPacket
        #expect(recorded.packets == ears.statistics.packets && recorded.latePackets == 0)
        // The difference of the clocks is corrected during concealment.
        let madeUp = recorded.concealedFrames - recorded.insertedFrames
        #expect(madeUp > 0 && madeUp <= lost, "\(recorded), \(lost) lost")
        #expect(ears.statistics.concealedFrames > recorded.concealedFrames + 2_400, "what was late is the difference")
        if printsFigures {
            print(
                network.name, form.coding, "lost \(lost), ears \(ears.statistics.concealedFrames) frames made up at",
                "\(ms(ears.statistics.depth)), recording \(recorded.concealedFrames) at \(ms(recorded.depth))")
        }
    }

    @Test(arguments: forms) func `the depth of the recording stays constant`(form: PlayoutConfiguration) throws {
        var rig = rig(.wifiCongested, form)
        let recorder = try RecordingRig(form)
        rig.before = recorder.follow
        rig.keepsOutput = false
        _ = try rig.run()
        let depths = recorder.history.filter { $0.time > 5 }.map(\.statistics.depth)
        #expect((depths.min() ?? 0) > 0.498 && (depths.max() ?? 1) < 0.504)
        let early = try #require(recorder.history.last { $0.time < 5 }).statistics
        #expect(recorder.statistics.stretchedFrames == early.stretchedFrames)
        // During concealment a small clock difference is corrected at once.
        #expect(recorder.statistics.droppedFrames + recorder.statistics.insertedFrames < 480)
    }

    /// From a cable to Wi-Fi and back: the minimum delay of the path is remembered for a minute.
    @Test func `a longer and again shorter path neither repeats nor skips frames in the recording`() throws {
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: .sing), seconds: 180)
        rig.delay = { _, sent in (10..<90).contains(sent) ? 0.040 : 0.005 }
        rig.says = voice
        rig.keepsOutput = false
        let recorder = try RecordingRig(.pcm(latencyProfile: .sing))
        rig.before = recorder.follow
        let ears = try rig.run()
        #expect(ears.statistics.stretchedFrames + ears.statistics.concealedFrames > 0)
        let recorded = recorder.statistics
        #expect(recorded.stretchedFrames == 0 && recorded.skips == 0 && recorded.concealedFrames == 0, "\(recorded)")
        #expect(recorded.latePackets == 0 && recorded.missingPackets == 0)
    }

    @Test(arguments: forms)
    func `the times at which the recorder pulls make no difference to the recording`(form: PlayoutConfiguration) throws
    {
        func recording(lag: Double) throws -> RecordingRig {
            var rig = rig(.wifiCongested, form)
            let recorder = try RecordingRig(form, lag: lag)
            rig.before = recorder.follow
            rig.keepsOutput = false
            _ = try rig.run()
            recorder.pull(until: 12)
            return recorder
        }
        let (prompt, slow) = (try recording(lag: 0), try recording(lag: 1.3))
        #expect(prompt.output == slow.output && prompt.output.count > 500_000)
        #expect(slow.playout.packets.rejectedPackets == 0)
    }

    @Test func `a recorder that never pulls does not affect playback, and its queue is bounded`() throws {
        var rig = rig(.wifiCongested, .pcm(latencyProfile: .sing))
        let alone = try rig.run()
        let recorder = try RecordingRig(.pcm(latencyProfile: .sing), lag: 1_000)
        rig.before = recorder.follow
        rig.delay = NetworkProfile.wifiCongested.delays(seed: 4)
        let ears = try rig.run()
        let isSame = ears.output == alone.output
        #expect(isSame)
        let held = recorder.playout.packets.storage.capacity
        #expect(held <= 2_048 && recorder.playout.packets.rejectedPackets == ears.statistics.packets - held)
        // If it returns after all, it continues with what arrives then.
        recorder.pull(until: 12)
        #expect(recorder.statistics.packets == held)
    }

    @Test(arguments: [false, true])
    func `packets recovered too late for playback are in the recording`(wasRequested: Bool) throws {
        let network: (Int, Double) -> Double? = { s, _ in s % 20 == 7 ? nil : 0.001 }
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: .sing), seconds: 20, delay: network)
        // Each copy arrives a tenth of a second later.
        rig.extra = { sequence, sent in
            let copied = sequence - 38
            guard copied >= 0, copied % 20 == 7 else { return nil }
            return PacketHeader(
                sequence: copied, position: copied * 128, frameCount: 128, byteCount: 256,
                arrival: HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: sent + 0.001), isRecovered: true,
                wasRequested: wasRequested)
        }
        let recorder = try RecordingRig(.pcm(latencyProfile: .sing), lag: 0.2)
        rig.before = recorder.follow
        let ears = try rig.run()
        recorder.pull(until: 20)
        #expect(ears.statistics.recoveredPackets == 0 && ears.statistics.concealedFrames > 340 * 128)
        #expect(recorder.statistics.recoveredPackets > 340)
        #expect(recorder.statistics.concealedFrames == 0 && recorder.statistics.latePackets == 0)
        #expect(ears.statistics.depth < 0.017)
    }

    @Test func `drift and skipped frames are followed by playback and recording alike`() throws {
        var rig = PlayoutRig(
            configuration: .pcm(latencyProfile: .sing), seconds: 60, senderPPM: 120, receiverPPM: -80,
            skip: (at: 30, frames: 4_800))
        rig.keepsOutput = false
        rig.historyInterval = 0.1
        let recorder = try RecordingRig(.pcm(latencyProfile: .sing), lag: 0.1)
        recorder.receiverPPM = rig.receiverPPM
        rig.before = recorder.follow
        let ears = try rig.run()
        #expect(abs(recorder.statistics.driftPPM - 200) < 3 && abs(ears.statistics.driftPPM - 200) < 3)
        #expect(abs(recorder.statistics.depth - 0.5005) < 0.003, "\(recorder.statistics.depth)")
        #expect(recorder.statistics.missingPackets == 0)
    }

    @Test func `a packet too large for one of two queues is counted there and reaches the other`() {
        let (small, large) = (
            PacketQueue(capacity: 4, payloadCapacity: 16), PacketQueue(capacity: 4, payloadCapacity: 256)
        )
        let header = PacketHeader(
            sequence: 0, position: 0, frameCount: 64, byteCount: 128, arrival: HostTime(nanoseconds: 0))
        let payload = [UInt8](repeating: 7, count: 128)
        small.second = large
        #expect(!payload.withUnsafeBytes { small.push(header, payload: $0) })
        #expect(!small.push(header) { $0.storeBytes(of: 1, as: Int.self) })
        #expect(small.rejectedPackets == 2 && large.rejectedPackets == 0)
        for n in 0..<3 { #expect(!payload.withUnsafeBytes { small.push(header, payload: $0) }, "\(n)") }
        #expect(large.rejectedPackets == 1, "it holds four")
        #expect(large.storage.first == 0 && large.storage.payloads.load(as: UInt8.self) == 7)
        large.second = small
        small.second = nil
        #expect(large.longestHold == 0)
    }
}
