// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotMediaTransport
import Testing

@testable import EarshotCall

/// Tests the negotiation of requests for a lower bit rate.
@Suite struct RateNegotiationTests {
    private func call(_ change: (inout CallPreferences) -> Void = { _ in }) throws -> CallSession {
        var preferences = CallPreferences(deviceRate: 48_000, deviceBlock: 128)
        preferences.changesRate = true
        change(&preferences)
        let card = try SimulatedDevice(
            SimulatedCard.Configuration(
                sampleRate: preferences.deviceRate, blockFrameCount: preferences.deviceBlock))
        return CallSession(preferences, device: card, cname: "end")
    }

    private func agree(_ a: CallSession, _ b: CallSession) throws -> (CallConfiguration, CallConfiguration) {
        let offer = try SessionDescription(parsing: a.offer(to: PeerID(2)).description)
        let answer = try SessionDescription(parsing: b.answer(offer, from: PeerID(1)).description)
        try a.accept(answer, from: PeerID(2))
        return try (
            #require(a.statistics(of: PeerID(2))).configuration, #require(b.statistics(of: PeerID(1))).configuration
        )
    }

    @Test func `PCM gets Opus as its fallback codec, and a ladder of bit rates down to 16,000`() throws {
        let (a, b) = try agree(call { $0.codec = .pcm }, call())
        #expect(a.codec == .pcm && b.codec == .pcm && a.repair.reserve != nil && a.repair.reserve == b.repair.reserve)
        #expect(a.repair.takesRateRequests && b.repair.takesRateRequests && a.playout.fallback != nil)
        #expect(a.ladder == b.ladder && a.ladder.map(\.codec) == [.pcm] + Array(repeating: .opus, count: 5))
        #expect(a.ladder.map(\.bitRate) == [768_000, 256_000, 128_000, 64_000, 32_000, 16_000])
        #expect(a.ladder.map(\.framesPerPacket) == [128, 240, 480, 960, 1_920, 2_880])
        #expect(a.ladder.prefix(5).map(\.wireBitRate) == [888_000, 320_000, 160_000, 80_000, 40_000])
    }

    @Test func `Opus has its own ladder of bit rates, and playout decodes PCM, to which the call may change`() throws {
        let (a, _) = try agree(call { $0.codec = .opus }, call())
        #expect(a.repair.reserve == nil && a.repair.takesRateRequests && a.playout.fallback == .pcm)
        #expect(a.ladder.map(\.bitRate) == [64_000, 64_000, 32_000, 16_000])
        #expect(a.ladder.map(\.framesPerPacket) == [480, 960, 1_920, 2_880])
    }

    @Test func `other sample rates and codecs have a ladder of one rung`() throws {
        let rate = try agree(
            call {
                $0.codec = .pcm
                $0.deviceRate = 44_100
            }, call())
        let aac = try agree(call { $0.codec = .aac }, call())
        let custom = try agree(call { $0.codec = .opusCustom }, call { $0.codec = .opusCustom })
        for (a, b) in [rate, aac, custom] {
            #expect(a.ladder.count == 1 && b.ladder.count == 1 && a.repair.reserve == nil)
        }
    }

    @Test func `a peer that does not allow rate changes gets a ladder of one rung`() throws {
        for (first, second) in [(true, false), (false, true)] {
            let (a, b) = try agree(
                call {
                    $0.codec = .pcm
                    $0.changesRate = first
                }, call { $0.changesRate = second })
            #expect(a.ladder.count == 1 && b.ladder.count == 1)
            #expect(!a.repair.takesRateRequests && a.repair.reserve == nil)
        }
    }

    @Test func `a required codec is not satisfied by the fallback codec of the other peer`() throws {
        let (a, b) = try (call { $0.codec = .pcm }, call { $0.codec = .opus })
        let offer = try a.offer(to: PeerID(2))
        #expect(throws: NegotiationError.self) { try b.answer(offer, from: PeerID(1)) }
    }

    @Test func `a remote peer's longest packet and highest bit rate are respected`() throws {
        let call = try call()
        var offer = try CallPreferences(codec: .opus, deviceRate: 48_000, deviceBlock: 128).offer(
            address: .loopback, port: 9, sessionID: 1)
        offer.maximumPacketTime = 40
        offer.formats[0].parameters.append(.init("maxaveragebitrate", "40000"))
        _ = try call.answer(offer, from: PeerID(1))
        let configuration = try #require(call.statistics(of: PeerID(1))).configuration
        #expect(configuration.ladder.map(\.bitRate) == [40_000, 32_000])
        #expect(configuration.ladder.map(\.framesPerPacket) == [480, 1_920])
    }

    /// Returns an end's sent sound by payload type, and the number of its requests for a lower bit rate, if both directions carry
    /// 300 kb/s.
    private func sent(by configuration: CallConfiguration) throws -> (types: Set<UInt8>, requests: Int) {
        var rig = try RepairRig(configuration)
        final class Log {
            var types: Set<UInt8> = []
            var free = [0.0, 0.0]
        }
        let log = Log()
        rig.way = { end, datagram, now in
            if !(192...223).contains(datagram[1]) { log.types.insert(datagram[1] & 0x7F) }
            guard log.free[end] < now + 0.2 else { return nil }
            log.free[end] = max(log.free[end], now) + Double(8 * (datagram.count + 28)) / 300_000
            return log.free[end] - now + 0.005
        }
        try rig.run(until: 4)
        return (log.types, rig.ends.reduce(0) { $0 + ($1.statistics.rate?.requestsSent ?? 0) })
    }

    @Test func `a plain RTP peer keeps its one format over a slow link, and gets no rate requests`() throws {
        let (native, _) = try agree(call { $0.codec = .pcm }, call())
        let both = try sent(by: native)
        #expect(both.types.isSuperset(of: [97, try #require(native.repair.reserve)]) && both.requests > 0)

        let call = try call { $0.codec = .pcm }
        var answer = try call.offer(to: PeerID(1)).plain
        answer.profile = .dtlsSAVPF
        try call.accept(SessionDescription(parsing: answer.description), from: PeerID(1))
        let configuration = try #require(call.statistics(of: PeerID(1))).configuration
        #expect(configuration.repair == RTPRepair() && configuration.ladder.count == 1)
        let alone = try sent(by: configuration)
        #expect(alone.types == [97] && alone.requests == 0)
    }
}
