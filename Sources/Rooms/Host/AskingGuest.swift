import EarshotMediaTransport

/// A guest that asks to be let in, for the person to decide.
public struct AskingGuest: Hashable, Sendable {
    /// What it calls itself.
    public var name: PeerName
    /// What it wants.
    public var purpose: Purpose?
    /// What it has proved; nil for a browser.
    public var key: KeyFingerprint?
    /// Where it is.
    public var address: IPAddress
    /// Whether a person has let it in before.
    public var isKnown: Bool
}
