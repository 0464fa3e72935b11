// SPDX-License-Identifier: Apache-2.0

/// The form in which sound is sent to a remote peer, and the rate of the link to it.
public struct RateState: Hashable, Sendable {
    /// The present form, but for the fraction of a second in which a queue before the link is emptied; the first of the ladder is
    /// the negotiated one.
    public var rung: RateRung
    /// The rung's position on the ladder, 0 for the negotiated form.
    package var index = 0
    /// Bits a second that the link carries, headers counted, as the remote peer found when it last was too slow; nil if it never
    /// was, or made no such finding.
    public var linkBitRate: Double?
    /// True if the link is too slow for the least that can be sent.
    public var isTooSlow = false
    /// Steps down the ladder so far, and steps up.
    public var stepsDown = 0
    /// The same of more.
    public var stepsUp = 0
    /// Requests for less that this end sent because the link from the remote peer was too slow.
    package var requestsSent = 0

    init(_ rung: RateRung) { self.rung = rung }
}
