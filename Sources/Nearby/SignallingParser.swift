/// Takes the bytes of one message in whatever pieces they come. A value without socket or clock.
public struct SignallingParser: Sendable {
    private static let maximumLineSize = 64
    private var line: [UInt8] = []
    private var message: SignallingMessage?  // once the line is read
    private var length = 0

    /// A parser that has seen nothing.
    public init() {}

    /// Takes the next bytes. What follows the message is left alone; a parser reads one message.
    /// - Returns: the message once it is whole.
    /// - Throws: the same error for the same bytes however they are cut; the parser is of no use then.
    public mutating func take(_ bytes: UnsafeRawBufferPointer) throws(SignallingParserError) -> SignallingMessage? {
        var rest = bytes[...]
        while message == nil, let byte = rest.popFirst() {
            if byte == 10 {
                (message, length) = try Self.read(line)
            } else {
                guard line.count < Self.maximumLineSize, (32...126).contains(byte) || byte == 13 else {
                    throw .notEarshot
                }
                line.append(byte)
            }
        }
        guard let held = message?.body.count else { return nil }
        message?.body.append(contentsOf: rest.prefix(length - held))
        return held + rest.count >= length ? message : nil
    }

    private static func read(_ line: [UInt8]) throws(SignallingParserError) -> (SignallingMessage, Int) {
        let words = (line.last == 13 ? line.dropLast() : line[...]).split(
            separator: 32, omittingEmptySubsequences: false
        ).map { String(decoding: $0, as: UTF8.self) }
        guard let protocolName = words.first, protocolName.hasPrefix("EARSHOT/") else { throw .notEarshot }
        guard protocolName == "EARSHOT/1" else { throw .otherVersion(protocolName) }
        guard words.count == 3, let kind = SignallingMessage.Kind(rawValue: words[1]),
            words[2].utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(words[2])
        else { throw .badLine }
        guard length <= SignallingMessage.maximumBodySize else { throw .tooLarge(length) }
        return (SignallingMessage(kind, body: []), length)
    }
}

/// Why bytes are no message.
public enum SignallingParserError: Error, Hashable, Sendable, CustomStringConvertible {
    /// They do not begin with a line of ours.
    case notEarshot
    /// A protocol version other than 1.
    case otherVersion(String)
    /// A first line without a known kind and a length.
    case badLine
    /// More than ``SignallingMessage/maximumBodySize`` bytes of text.
    case tooLarge(Int)

    /// One line for the user.
    public var description: String {
        switch self {
        case .notEarshot: "the other side does not speak Earshot's signalling; check address and port"
        case .otherVersion(let name):
            "the other side speaks \(name), this one EARSHOT/1; install the same version on both"
        case .badLine:
            "a first line that is not 'EARSHOT/1 OFFER|ANSWER|REFUSED LENGTH'; install the same version on both"
        case .tooLarge(let size):
            "a message of \(size) bytes exceeds \(SignallingMessage.maximumBodySize); let the caller offer fewer formats"
        }
    }
}
