// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Calls with real cards, ports and threads, over loopback.
@Suite(.serialized) struct CallSessionTests {
    private func started(_ count: Int) throws -> [LiveCall] {
        let calls = try (0..<count).map { try LiveCall($0) }
        for call in calls { try call.start() }
        return calls
    }

    @Test func `two participants hear each other and see each other's level, delay and speaking state`() throws {
        let calls = try started(2)
        defer { for call in calls { call.stop() } }
        let (a, b) = (calls[0], calls[1])
        try a.call(b)
        #expect(eventually { a.hears(b) && b.hears(a) })
        for (one, other) in [(a, b), (b, a)] {
            #expect(eventually { one.statistics(of: other)?.mouthToEar != nil })
            let statistics = try #require(one.statistics(of: other))
            #expect(statistics.configuration.codec == .opus && statistics.direction == .sendReceive)
            #expect(statistics.playout.isStarted && statistics.media.rtp.packetsReceived > 0)
            #expect(statistics.level.isSpeaking && statistics.level.peak > 0.08 && statistics.level.peak < 0.12)
            #expect(one.session.levels.isSpeaking && one.session.failure == nil)
            #expect(one.session.statistics.keys.elementsEqual([other.id]))
        }
        // A peer announces that it stops.
        b.stop()
        #expect(eventually { a.statistics(of: b)?.media.peerLeft == true })
    }

    @Test func `a participant with a separate microphone device hears, is heard, mutes and stops`() throws {
        let calls = [try LiveCall(0, isSplit: true), try LiveCall(1)]
        for call in calls { try call.start() }
        defer { for call in calls { call.stop() } }
        let (a, b) = (calls[0], calls[1])
        try a.call(b)
        #expect(eventually { a.hears(b) && b.hears(a) })
        #expect(a.session.levels.isSpeaking && a.session.levels.heardPeak > 0.08)
        a.session.isMuted = true
        #expect(eventually { b.misses(a) && a.hears(b) })
        a.stop()
        #expect(eventually { b.statistics(of: a)?.media.peerLeft == true })
    }

    @Test(.realTime) func `one of three participants leaves and returns without a gap for the others`() throws {
        let calls = try started(3)
        defer { for call in calls { call.stop() } }
        let (a, b, c) = (calls[0], calls[1], calls[2])
        try b.call(a)
        try c.call(a)
        try c.call(b)
        #expect(eventually { a.hears(b) && a.hears(c) && b.hears(a) && b.hears(c) && c.hears(a) && c.hears(b) })
        let before = try #require(a.statistics(of: b)).playout
        for waits in [true, false] {
            c.part(from: a)
            c.part(from: b)
            #expect(a.session.peers == [b.id] && c.session.peers == [] && a.statistics(of: c) == nil)
            if waits {
                #expect(eventually { a.misses(c) && b.misses(c) && c.misses(a) && c.misses(b) })
                #expect(a.hears(b) && b.hears(a))
            }
            try c.call(a)
            try c.call(b)
            #expect(eventually { a.hears(b) && a.hears(c) && b.hears(a) && b.hears(c) && c.hears(a) && c.hears(b) })
        }
        let after = try #require(a.statistics(of: b)).playout
        #expect(after.concealedFrames == before.concealedFrames && after.skips == before.skips)
    }

    @Test(.realTime) func `two peers renegotiate without any effect on a third`() throws {
        let calls = try started(3)
        defer { for call in calls { call.stop() } }
        let (a, b, c) = (calls[0], calls[1], calls[2])
        try a.call(b)
        try a.call(c)
        #expect(eventually { a.hears(b) && b.hears(a) && c.hears(a) && a.hears(c) })
        let before = try #require(c.statistics(of: a)).playout
        _ = c.steepest()
        // The same again is no change.
        let packets = try #require(a.statistics(of: b)).playout.packets
        try a.describe(b)
        #expect(try #require(a.statistics(of: b)).playout.packets >= packets)
        // In one direction; in none; another codec; as at first.
        try a.describe(b) { $0.direction = .sendOnly }
        #expect(eventually { a.misses(b) && b.hears(a) })
        #expect(a.statistics(of: b)?.direction == .sendOnly && b.statistics(of: a)?.direction == .receiveOnly)
        #expect(a.statistics(of: b)?.playout.packets ?? 0 >= packets, "what was counted stays")
        try a.describe(b) { $0.direction = .inactive }
        #expect(a.statistics(of: b) == nil && b.statistics(of: a) == nil && a.session.peers == [c.id])
        #expect(eventually { a.misses(b) && b.misses(a) })
        try a.describe(b) { $0.formats.removeAll { $0.codec != .pcm } }
        #expect(eventually { a.hears(b) && b.hears(a) })
        #expect(a.statistics(of: b)?.configuration.codec == .pcm)
        try b.describe(a)
        #expect(eventually { a.hears(b) && b.hears(a) && a.hears(c) && c.hears(a) })
        let statistics = try #require(a.statistics(of: b))
        #expect(statistics.configuration.codec == .opus && !statistics.media.peerLeft)
        #expect(statistics.media.rtp.packetsMissing == 0)
        let after = try #require(c.statistics(of: a)).playout
        #expect(after.concealedFrames == before.concealedFrames && after.skips == before.skips)
        #expect(c.steepest() < 0.006)  // the tone's own slope is 0.004
    }

    @Test func `remote peers may renegotiate any number of times while no device runs`() throws {
        let (a, b) = (try LiveCall(0), try LiveCall(1))
        for n in 0..<40 {
            try a.describe(b) { $0.direction = n % 2 == 0 ? .sendOnly : .sendReceive }
        }
        // Calls that begin now are heard.
        for call in [a, b] { try call.start() }
        defer { for call in [a, b] { call.stop() } }
        try a.call(b)
        #expect(eventually { a.hears(b) && b.hears(a) })
        b.session.stop()
        for n in 0..<40 {
            try a.describe(b) { $0.direction = n % 2 == 0 ? .sendOnly : .sendReceive }
        }
    }

    @Test func `a remote peer's gain is applied, also after a renegotiation`() throws {
        let calls = try started(2)
        defer { for call in calls { call.stop() } }
        let (a, b) = (calls[0], calls[1])
        try a.call(b)
        #expect(eventually { a.hears(b) && b.hears(a) })
        a.session.setGain(0, of: b.id)
        #expect(eventually { a.misses(b) })
        try a.describe(b) { $0.direction = .sendOnly }
        try a.describe(b)
        #expect(eventually { a.statistics(of: b)?.level.isSpeaking == true })
        #expect(eventually { b.hears(a) } && a.misses(b))
        a.session.setGain(1, of: b.id)
        #expect(eventually { a.hears(b) })
        a.session.setGain(0, of: PeerID(77))
    }

    @Test func `a muted participant is silent for everybody and is not shown as speaking`() throws {
        let calls = try started(3)
        defer { for call in calls { call.stop() } }
        let (a, b, c) = (calls[0], calls[1], calls[2])
        a.session.isMuted = true
        try a.call(b)
        try a.call(c)
        #expect(eventually { a.hears(b) && a.hears(c) })
        #expect(eventually { b.statistics(of: a)?.playout.isStarted == true })
        // The fade of muting may still have been on its way.
        #expect(eventually { b.misses(a) && c.misses(a) })
        #expect(eventually { b.statistics(of: a)?.level.isSpeaking == false } && a.session.levels.isSpeaking)
        a.session.isMuted = false
        #expect(eventually { b.hears(a) && c.hears(a) && b.statistics(of: a)?.level.isSpeaking == true })
        a.session.isMuted = true
        #expect(eventually { b.misses(a) && c.misses(a) && b.statistics(of: a)?.level.isSpeaking == false })
        #expect(a.session.isMuted)
    }

    @Test func `each pair of peers uses a codec that both accept`() throws {
        let a = try LiveCall(0)
        let b = try LiveCall(1) { $0.codec = .pcm }
        let c = try LiveCall(2) {
            $0.codec = .opus
            $0.opusFrameMilliseconds = 5
        }
        let d = try LiveCall(3) { $0.codec = .aac }
        let calls = [a, b, c, d]
        for call in calls { try call.start() }
        defer { for call in calls { call.stop() } }
        for other in [b, c, d] { try other.call(a) }
        #expect(eventually { [b, c, d].allSatisfy { a.hears($0) && $0.hears(a) } })
        #expect([b, c, d].map { a.statistics(of: $0)?.configuration.codec } == [.pcm, .opus, .aac])
        #expect(a.statistics(of: c)?.configuration.framesPerPacket == 240)
        // Without a common codec: an error for both, and no effect on the others.
        #expect(throws: NegotiationError.self) { try b.call(c) }
        #expect(b.session.peers == [a.id] && c.session.peers == [a.id])
    }

    @Test func `a listen-only participant hears everybody and sends no sound`() throws {
        let a = try LiveCall(0)
        let b = try LiveCall(1) { $0.direction = .receiveOnly }
        let c = try LiveCall(2)
        let calls = [a, b, c]
        for call in calls { try call.start() }
        defer { for call in calls { call.stop() } }
        try b.call(a)
        try c.call(a)
        try c.call(b)
        #expect(eventually { b.hears(a) && b.hears(c) && a.hears(c) && c.hears(a) })
        #expect(eventually { a.misses(b) && c.misses(b) })
        let (there, here) = (try #require(a.statistics(of: b)), try #require(b.statistics(of: a)))
        #expect(there.direction == .sendOnly && here.direction == .receiveOnly)
        #expect(!there.playout.isStarted && here.media.rtp.packetsSent == 0)
        // It reports its reception, although it sends no sound.
        #expect(eventually { a.statistics(of: b)?.media.rtp.remote != nil })
    }

    @Test func `any thread may add and remove remote peers while sound flows`() throws {
        let calls = try started(2)
        defer { for call in calls { call.stop() } }
        let (a, b) = (calls[0], calls[1])
        try a.call(b)
        #expect(eventually { a.hears(b) })
        let guest = CallPreferences(deviceRate: 44_100, deviceBlock: 256)
        DispatchQueue.concurrentPerform(iterations: 4) { [session = a.session] thread in
            for round in 0..<40 {
                let peer = PeerID(10 + (thread + round) % 6)
                do {
                    switch round % 4 {
                    case 0, 1:
                        let offer = try guest.offer(address: .loopback, port: 9, sessionID: 1)
                        _ = try session.answer(offer, from: peer)
                    case 2:
                        let offer = try session.offer(to: peer)
                        let answer = try guest.answer(to: offer, address: .loopback, port: 9, sessionID: 1)
                        try session.accept(answer, from: peer)
                    default: session.end(peer)
                    }
                    _ = session.statistics
                    session.isMuted = round % 8 == 0
                } catch {
                    // Seats become free when the callback has faded out their former users.
                    #expect(error as? CallError == .full || error as? CallError == .notOffered(peer), "\(error)")
                }
            }
        }
        a.session.isMuted = false
        for number in 10..<16 { a.session.end(PeerID(number)) }
        #expect(a.session.peers == [b.id])
        #expect(eventually { a.hears(b) && b.hears(a) })
        #expect(a.session.failure == nil)
    }
}
