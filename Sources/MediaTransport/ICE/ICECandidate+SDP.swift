// SPDX-License-Identifier: Apache-2.0

/// The value of an `a=candidate` line (RFC 8839 §5.1), after the colon.
extension ICECandidate: CustomStringConvertible {
    /// The candidate as in SDP, without `a=candidate:`.
    public var description: String {
        "\(foundation) \(Self.component) UDP \(priority) \(address.address) \(address.port) typ host"
    }

    /// Reads a host candidate and skips extensions. Nil for anything else in such a line: TCP, another component, reflexive and
    /// relayed candidates, mDNS names (RFC 8828), and invalid text. These are not errors: the peer has other candidates, and its
    /// own checks reveal its address without any.
    package init?(parsing text: some StringProtocol) {
        let words = text.utf8.split(separator: 32).map { String(decoding: $0, as: UTF8.self) }
        guard words.count >= 8, words.count % 2 == 0, UInt32(words[1]) == Self.component,
            words[2].lowercased() == "udp", words[6] == "typ", words[7] == "host",
            !words[4].utf8.contains(37), let priority = UInt32(words[3]), let address = IPAddress(words[4]),
            let port = UInt16(words[5])
        else { return nil }
        self.init(foundation: words[0], priority: priority, address: SocketAddress(address, port: port))
    }
}
