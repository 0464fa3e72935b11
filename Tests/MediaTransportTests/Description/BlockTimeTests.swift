// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotMediaTransport

/// The time of a device's block in descriptions.
@Suite struct BlockTimeTests {
    private func description(_ attributes: [String], blockTime: Double? = nil) -> SessionDescription {
        var offer = SessionDescription.offer(formats: [.opus()], address: .loopback, port: 9, sessionID: 1)
        offer.blockTime = blockTime
        offer.otherMediaAttributes = attributes
        return offer
    }

    @Test(arguments: [0.1, 1.333, 5.333, 10.667, 200]) func `a block's time is written and read`(time: Double) throws {
        let offer = description([], blockTime: time)
        #expect(offer.description.contains("a=x-earshot-block:\(time == 200 ? "200" : "\(time)")\r\n"))
        #expect(try SessionDescription(parsing: offer.description) == offer)
        #expect(offer.plain.blockTime == nil)
    }

    @Test(arguments: ["", ":", ":0", ":0.09", ":201", ":1e2", ":-5", ":5.333.1", ":nan", ":5 5", ":5.3333333333333"])
    func `another time is ignored as an unknown attribute`(value: String) throws {
        let offer = description(["x-earshot-block\(value)"])
        let read = try SessionDescription(parsing: offer.description)
        #expect(read.blockTime == nil && read == offer)
    }

    @Test func `a second time is ignored`() throws {
        let offer = description(["x-earshot-block:2"], blockTime: 5)
        #expect(try SessionDescription(parsing: offer.description) == offer)
    }
}
