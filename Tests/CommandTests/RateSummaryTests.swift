// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@testable import EarshotCall
@testable import EarshotLiveCall
@testable import earshot

/// Tests the line about a link that is too slow.
@Suite struct RateSummaryTests {
    private static func summary(_ codec: Codec, index: Int, isTooSlow: Bool = false) -> String {
        var state = RateState(RateRung(codec, bitRate: 32_000, framesPerPacket: 960, packetRate: 50))
        (state.index, state.isTooSlow, state.linkBitRate) = (index, isTooSlow, 41_400)
        return RateDocument(state).summary
    }

    @Test func `the summary names a reduced bit rate`() {
        let summary = Self.summary(.opus, index: 2)
        #expect(summary == "the link to them carries about 41 kb/s: they are sent opus at 32 kb/s")
    }

    @Test(arguments: [(.opus, "or end other transfers"), (.pcm, "or call with Opus")] as [(Codec, String)])
    func `the summary of a link too slow for the lowest rate suggests a remedy`(codec: Codec, remedy: String) {
        let summary = Self.summary(codec, index: 3, isTooSlow: true)
        #expect(summary.contains("too little even for \(codec) at 32 kb/s") && summary.hasSuffix(remedy))
    }
}
