// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotMediaTransport
import Testing

@testable import EarshotCall

@Suite struct RepairNegotiationTests {
    private func call(_ change: (inout CallPreferences) -> Void = { _ in }) throws -> CallSession {
        var preferences = CallPreferences(deviceRate: 48_000, deviceBlock: 128)
        change(&preferences)
        let card = try SimulatedDevice(SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 128))
        return CallSession(preferences, device: card, cname: "end")
    }

    private func agree(_ a: CallSession, _ b: CallSession) throws -> (RTPRepair?, RTPRepair?) {
        let offer = try SessionDescription(parsing: a.offer(to: PeerID(2)).description)
        let answer = try SessionDescription(parsing: b.answer(offer, from: PeerID(1)).description)
        try a.accept(answer, from: PeerID(2))
        return (
            a.statistics(of: PeerID(2))?.configuration.repair, b.statistics(of: PeerID(1))?.configuration.repair
        )
    }

    @Test(arguments: [Codec.opus, .pcm]) func `native peers negotiate every kind of repair`(codec: Codec) throws {
        let (a, b) = try agree(call { $0.codec = codec }, call())
        let mine = try #require(a)
        #expect(mine == b && mine.redundant != nil && mine.repeated != nil && mine.takesNACK && mine.takesReports)
    }

    private func makesUpForNothing(_ repair: RTPRepair?) -> Bool {
        guard let repair else { return false }
        return repair.redundant == nil && repair.repeated == nil && !repair.takesNACK && !repair.takesReports
    }

    @Test func `no repair is negotiated with AAC or if one peer disables it`() throws {
        for (first, second) in [(true, false), (false, true)] {
            let (a, b) = try agree(call { $0.allowsRepair = first }, call { $0.allowsRepair = second })
            #expect(makesUpForNothing(a) && makesUpForNothing(b))
        }
        let (a, b) = try agree(call { $0.codec = .aac }, call())
        #expect(makesUpForNothing(a) && makesUpForNothing(b))
    }

    @Test func `Opus's own redundancy is sent only to a peer that requests it`() throws {
        let call = try call()
        var offer = try CallPreferences(deviceRate: 48_000, deviceBlock: 128).offer(
            address: .loopback, port: 9, sessionID: 1)
        _ = try call.answer(offer, from: PeerID(1))
        #expect(call.statistics(of: PeerID(1))?.configuration.takesCodecRedundancy == false)
        offer.formats[0].parameters.append(.init("useinbandfec", "1"))
        _ = try call.answer(offer, from: PeerID(2))
        #expect(call.statistics(of: PeerID(2))?.configuration.takesCodecRedundancy == true)
    }
}
