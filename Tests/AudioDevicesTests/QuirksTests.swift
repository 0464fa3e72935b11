// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotAudioDevices

@Suite("Quirks") struct QuirksTests {
    struct Loss: CustomTestStringConvertible {
        var testDescription: String
        var counted: Int64
        var gap: Double
        var frameCount: UInt32 = 256
        var last: UInt32 = 256
        var lost: Int64
    }

    @Test(
        "frames lost by jackd before a cycle are computed from its counter and the time gap",
        arguments: [
            Loss(testDescription: "nothing", counted: 0, gap: 3, lost: 0),
            Loss(testDescription: "the client was left out", counted: 512, gap: 512, lost: 512),
            Loss(testDescription: "the server's own xrun", counted: 0, gap: 700.4, lost: 700),
            Loss(testDescription: "a longer block", counted: 960, gap: 16, frameCount: 1_024, last: 64, lost: 0),
            Loss(testDescription: "a shorter block", counted: -192, gap: 2, frameCount: 64, last: 256, lost: 0),
            Loss(
                testDescription: "a shorter block after a gap", counted: -192, gap: 90, frameCount: 64, last: 256,
                lost: 90),
        ])
    func jackLostFrames(_ loss: Loss) {
        #expect(
            Quirks.jackLostFrames(
                counted: loss.counted, gap: loss.gap, frameCount: loss.frameCount, last: loss.last) == loss.lost)
    }
}
