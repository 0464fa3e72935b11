// SPDX-License-Identifier: Apache-2.0

/// The form of the sound sent to a remote peer, and the rate of the link.
public struct RateState: Hashable, Sendable {
    /// The current form of the sound. While the link's queue drains, a lower form may be sent for a moment.
    public var rung: RateRung
    /// The rung's index on the ladder, 0 for the negotiated form.
    package var index = 0
    /// The link's bits a second with headers, measured when the link last was too slow; nil if it never was, or was not measured.
    public var linkBitRate: Double?
    /// True if the link is too slow for the last rung.
    public var isTooSlow = false
    /// The steps down the ladder so far.
    public var stepsDown = 0
    /// The steps up the ladder so far.
    public var stepsUp = 0
    /// The requests for a lower rate sent because the link from the remote peer was too slow.
    package var requestsSent = 0

    init(_ rung: RateRung) { self.rung = rung }
}
