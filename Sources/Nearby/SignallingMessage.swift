/// One message of the signalling: a line `EARSHOT/1 OFFER|ANSWER|REFUSED LENGTH`, then that many bytes of text.
public struct SignallingMessage: Hashable, Sendable {
    /// What the text is.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A session description, from the guest.
        case offer = "OFFER"
        /// A session description, from the host.
        case answer = "ANSWER"
        /// Why the host takes no call.
        case refused = "REFUSED"
    }

    /// What the text is.
    public var kind: Kind
    /// UTF-8, if the sender is honest; at most ``maximumBodySize`` bytes.
    public var body: [UInt8]

    /// Bytes of text at most.
    public static let maximumBodySize = 65_536

    /// A message. - Precondition: `body` is at most ``maximumBodySize`` bytes.
    public init(_ kind: Kind, body: [UInt8]) {
        precondition(body.count <= Self.maximumBodySize)
        self.kind = kind
        self.body = body
    }

    /// The message as it goes over the wire.
    public var bytes: [UInt8] { Array("EARSHOT/1 \(kind.rawValue) \(body.count)\n".utf8) + body }

    /// The text on one line, fit for a terminal: control characters are blanks, and it ends after 400 characters.
    public var text: String {
        String(
            String.UnicodeScalarView(
                String(decoding: body, as: UTF8.self).unicodeScalars.prefix(400).map {
                    $0.properties.generalCategory == .control || $0.properties.generalCategory == .format ? " " : $0
                }))
    }
}
