// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotMediaTransport

/// Send times in offers and answers.
@Suite struct SendTimeDescriptionTests {
    private func offer(_ profile: SessionDescription.Profile = .dtlsSAVPF) -> SessionDescription {
        var offer = SessionDescription.offer(
            formats: [.opus()], address: .loopback, port: 9, sessionID: 1, profile: profile)
        offer.offerSendTime()
        return offer
    }

    private func answer(to offer: SessionDescription) throws -> SessionDescription {
        var answer = try SessionDescription.answer(
            to: offer, supporting: [.opus()], address: .loopback, port: 9, sessionID: 2)
        answer.answerSendTime(to: offer)
        return try SessionDescription(parsing: answer.description)
    }

    @Test func `native peers negotiate the offer's identifier`() throws {
        let line = "a=extmap:1 urn:x-earshot:rtp:send-time\r\n"
        #expect(offer().description.contains(line))
        let text = offer().description.replacing(line, with: line.replacing("1 urn", with: "14 urn"))
        let offer = try SessionDescription(parsing: text)
        #expect(offer.sendTimeID == 14 && offer.description == text)
        let answer = try answer(to: offer)
        #expect(answer.sendTimeID == 14)
        #expect(SessionDescription.sendTimeID(mine: answer, theirs: offer) == 14)
        #expect(SessionDescription.sendTimeID(mine: offer, theirs: answer) == 14)
    }

    @Test func `a peer without send times gets none`() throws {
        var old = offer()
        old.sendTimeID = nil
        #expect(try answer(to: old).sendTimeID == nil)
        #expect(SessionDescription.sendTimeID(mine: offer(), theirs: old) == nil)
        #expect(SessionDescription.sendTimeID(mine: old, theirs: offer()) == nil)
        #expect(try answer(to: offer(.avp)).sendTimeID == nil)
        #expect(offer().plain.sendTimeID == nil)
    }

    @Test(arguments: [
        "0 urn:x-earshot:rtp:send-time", "15 urn:x-earshot:rtp:send-time", "256 urn:x-earshot:rtp:send-time",
        "1/sendonly urn:x-earshot:rtp:send-time", "1 urn:x-earshot:rtp:send-time more",
        "1 urn:ietf:params:rtp-hdrext:x",
        "1", "x urn:x-earshot:rtp:send-time",
    ])
    func `another extension is kept as an unknown attribute`(value: String) throws {
        var description = offer()
        description.sendTimeID = nil
        description.otherMediaAttributes = ["extmap:\(value)"]
        let read = try SessionDescription(parsing: description.description)
        #expect(read.sendTimeID == nil && read == description)
    }

    @Test func `a second identifier for send times is ignored`() throws {
        var description = offer()
        description.otherMediaAttributes = ["extmap:7 urn:x-earshot:rtp:send-time"]
        let read = try SessionDescription(parsing: description.description)
        #expect(read.sendTimeID == 1 && read == description)
    }
}
