// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotMediaTransport
import Testing

@testable import EarshotCall

/// Tests the negotiation of a call with remote peers, without any sound.
@Suite struct CallNegotiationTests {
    private func call(_ change: (inout CallPreferences) -> Void = { _ in }) throws -> CallSession {
        var preferences = CallPreferences(deviceRate: 48_000, deviceBlock: 128)
        change(&preferences)
        let card = try SimulatedDevice(SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 128))
        return CallSession(preferences, device: card, cname: "end")
    }

    private let guest = CallPreferences(deviceRate: 48_000, deviceBlock: 256)

    private func offer(_ direction: SessionDescription.Direction = .sendReceive) throws -> SessionDescription {
        var offer = try guest.offer(address: .loopback, port: 5_004, sessionID: 7)
        offer.direction = direction
        return offer
    }

    @Test func `descriptions contain no address or port, and each has a higher version`() throws {
        let call = try call()
        let first = try call.offer(to: PeerID(1))
        #expect(first.address == .any && first.port == 9 && first.ice == nil && first.certificateFingerprint == nil)
        #expect(first.profile == .dtlsSAVPF)
        let second = try call.offer(to: PeerID(1))
        #expect(second.origin.sessionID == first.origin.sessionID && second.origin.version > first.origin.version)
        let answer = try call.answer(offer(), from: PeerID(1))
        #expect(answer.port == 9 && answer.origin.version > second.origin.version)
        #expect(try call.offer(to: PeerID(2)).origin.sessionID != first.origin.sessionID)
    }

    static let directions = SessionDescription.Direction.allCases

    @Test(arguments: directions, directions) func `sound is sent only in directions that both peers accept`(
        offered: SessionDescription.Direction, own: SessionDescription.Direction
    ) throws {
        let call = try call { $0.direction = own }
        let answer = try call.answer(offer(offered), from: PeerID(1))
        let (sends, receives) = (own.sends && offered.receives, own.receives && offered.sends)
        #expect(answer.direction.sends == sends && answer.direction.receives == receives)
        #expect(call.statistics(of: PeerID(1))?.direction == (sends || receives ? answer.direction : nil))
        // The same with a local offer.
        let mine = try call.offer(to: PeerID(2))
        #expect(mine.direction == own)
        var theirs = try guest.answer(to: mine, address: .loopback, port: 5_004, sessionID: 8)
        theirs.direction = mine.direction.mirrored.limited(to: offered)
        try call.accept(theirs, from: PeerID(2))
        #expect(call.statistics(of: PeerID(2))?.direction == (sends || receives ? answer.direction : nil))
    }

    @Test func `an inactive description is accepted with any format`() throws {
        let call = try call { $0.codec = .pcm }
        let format = MediaFormat(payloadType: 0, encodingName: "PCMU", clockRate: 8_000, channelCount: 1)
        var offer = SessionDescription(formats: [format], address: .loopback, port: 9, sessionID: 3)
        #expect(throws: NegotiationError.self) { try call.answer(offer, from: PeerID(1)) }
        offer.direction = .inactive
        let answer = try call.answer(offer, from: PeerID(1))
        #expect(answer.direction == .inactive && answer.formats == [format] && call.peers == [])
        #expect(answer.profile == offer.profile && answer.port == 9)
        _ = try call.offer(to: PeerID(1))
        try call.accept(answer, from: PeerID(1))
        #expect(call.peers == [])
    }

    @Test func `the eighth remote peer is refused because the call is full, until another one leaves`() throws {
        let call = try call()
        for number in 1...7 { _ = try call.answer(offer(), from: PeerID(number)) }
        #expect(throws: CallError.full) { try call.answer(offer(), from: PeerID(8)) }
        #expect(throws: CallError.full) { try call.offer(to: PeerID(8)) }
        // Peers in the call may renegotiate, and peers without sound may be present.
        _ = try call.offer(to: PeerID(3))
        _ = try call.answer(offer(.receiveOnly), from: PeerID(3))
        _ = try call.answer(offer(.inactive), from: PeerID(8))
        call.end(PeerID(2))
        _ = try call.answer(offer(), from: PeerID(8))
        #expect(call.peers == Set([1, 3, 4, 5, 6, 7, 8].map { PeerID($0) }))
        #expect("\(CallError.full)".contains("7"))
    }

    @Test func `an answer without an offer is refused, and an invalid answer leaves the call unchanged`() throws {
        let call = try call()
        let answer = try guest.answer(to: offer(), address: .loopback, port: 5_004, sessionID: 8)
        #expect(throws: CallError.notOffered(PeerID(1))) { try call.accept(answer, from: PeerID(1)) }
        _ = try call.answer(offer(), from: PeerID(1))
        let before = call.statistics(of: PeerID(1))?.configuration
        _ = try call.offer(to: PeerID(1))
        var foreign = answer
        foreign.formats = [.pcm(payloadType: 111, sampleRate: 12_345)]
        #expect(throws: NegotiationError.self) { try call.accept(foreign, from: PeerID(1)) }
        var clear = try guest.answer(to: call.offer(to: PeerID(1)), address: .loopback, port: 5_004, sessionID: 8)
        clear.profile = .avp
        #expect(throws: NegotiationError.self) { try call.accept(clear, from: PeerID(1)) }
        var refused = answer
        refused.port = 0
        #expect(throws: NegotiationError.noAudio) { try call.accept(refused, from: PeerID(1)) }
        var aac = try offer()
        aac.formats = [.aac(configuration: [0xFF, 0xFF])]
        #expect(throws: (any Error).self) { try call.answer(aac, from: PeerID(1)) }
        #expect(call.statistics(of: PeerID(1))?.configuration == before)
        call.end(PeerID(1))
        call.end(PeerID(1))
        #expect(throws: CallError.notOffered(PeerID(1))) { try call.accept(answer, from: PeerID(1)) }
    }
}
