// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import Testing

@testable import EarshotLiveCall

/// Reports of damped feedback.
@Suite struct LiveCallFeedbackTests {
    /// The frequencies of the reported tones.
    private func frequencies(_ rig: CoreRig) -> [Double] {
        rig.events.compactMap { if case .feedback(let hertz) = $0.kind { hertz } else { nil } }
    }

    @Test func `damped feedback is reported at once, and then at most every ten seconds`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.startSound()
        rig.wait(1)
        #expect(frequencies(rig).isEmpty)
        for count in 1...40 {
            (rig.observation.feedback.count, rig.observation.feedback.frequency) = (count, Float(1_000 + count))
            rig.wait(0.5)
        }
        let reported = frequencies(rig)
        #expect(reported.first == 1_001 && reported.count == 2, "\(reported)")
        rig.wait(30)
        #expect(frequencies(rig).count == 3 && frequencies(rig).last == 1_040, "\(frequencies(rig))")
    }
}
