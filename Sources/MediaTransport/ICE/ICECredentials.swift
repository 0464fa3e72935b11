// SPDX-License-Identifier: Apache-2.0

/// By what the two sides of a call know each other's checks: a user name fragment and a password, of each side
/// (RFC 8445 §5.3). They travel with the session description and are drawn anew for each.
public struct ICECredentials: Hashable, Sendable {
    /// 4 to 256 characters of ``alphabet``.
    public let usernameFragment: String
    /// 22 to 256 characters of ``alphabet``. Secret: it is in no description of this value.
    public let password: String

    /// The characters of both: letters, digits, `+` and `/` (RFC 8839 §5.4), 64 characters.
    static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Credentials as they were described; nil when a length or a character is none of those allowed.
    package init?(usernameFragment: String, password: String) {
        guard (4...256).contains(usernameFragment.utf8.count), (22...256).contains(password.utf8.count),
            Self.isValid(usernameFragment), Self.isValid(password)
        else { return nil }
        self.usernameFragment = usernameFragment
        self.password = password
    }

    private init(unchecked usernameFragment: String, _ password: String) {
        self.usernameFragment = usernameFragment
        self.password = password
    }

    /// New ones: 48 bits of fragment, 144 of password, where RFC 8445 wants 24 and 128 at least.
    /// - Parameter generator: one that cannot be guessed, but in tests.
    public static func random(using generator: inout some RandomNumberGenerator) -> ICECredentials {
        func text(_ count: Int) -> String {
            let characters = (0..<count).map { _ in alphabet[Int.random(in: 0..<64, using: &generator)] }
            return String(decoding: characters, as: UTF8.self)
        }
        let fragment = text(8)
        return ICECredentials(unchecked: fragment, text(24))
    }

    /// Returns true if all of it is of the alphabet.
    static func isValid(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy { alphabet.contains($0) } }
}

extension ICECredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The fragment.
    public var description: String { usernameFragment }
    /// The fragment.
    public var debugDescription: String { usernameFragment }
    /// The fragment, for `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["usernameFragment": usernameFragment]) }
}
