// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import Foundation

extension DuetSentences {
    /// The seconds within which a singer's delay should be known.
    static let delayTolerance = 0.002

    /// The sentence to a singer whose device's delay is not known; nil if it is.
    static func ownDelay(_ knowledge: DelayKnowledge) -> String? {
        let reason: String
        switch knowledge {
        case .measured(let delay) where delay.uncertainty <= delayTolerance: return nil
        case .measured(let delay):
            reason = String(format: "is known to %.0f ms only", delay.uncertainty * 1e3)
        case .reported: reason = "was not measured yet"
        case .stale(let device):
            reason = "was measured at \(CalibrationSentences.configuration(device)) only"
        }
        return
            "You can sing, but your voice may be some milliseconds off in the mix: the delay of your sound device \(reason). "
            + "Measure it after the duet: earshot calibrate"
    }
}
