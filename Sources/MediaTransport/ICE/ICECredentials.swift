// SPDX-License-Identifier: Apache-2.0

/// The credentials of one side's checks: a user name fragment and a password (RFC 8445 §5.3). Session descriptions
/// carry them, and each new transport has new ones.
public struct ICECredentials: Hashable, Sendable {
    /// The fragment: 4 to 256 characters of ``alphabet``.
    public let usernameFragment: String
    /// The password: 22 to 256 characters of ``alphabet``. Secret: ``description`` does not contain it.
    public let password: String

    /// The 64 characters of fragments and passwords: letters, digits, `+` and `/` (RFC 8839 §5.4).
    static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Creates credentials from a session description; nil if a length or a character is invalid.
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

    /// Returns new random credentials: 48 bits for the fragment and 144 for the password. RFC 8445 requires 24 and 128.
    /// - Parameter generator: must be unpredictable, except in tests.
    public static func random(using generator: inout some RandomNumberGenerator) -> ICECredentials {
        func text(_ count: Int) -> String {
            let characters = (0..<count).map { _ in alphabet[Int.random(in: 0..<64, using: &generator)] }
            return String(decoding: characters, as: UTF8.self)
        }
        let fragment = text(8)
        return ICECredentials(unchecked: fragment, text(24))
    }

    /// Returns true if all characters of a text are in ``alphabet``.
    static func isValid(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy { alphabet.contains($0) } }
}

extension ICECredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The fragment, without the password.
    public var description: String { usernameFragment }
    /// The fragment, without the password.
    public var debugDescription: String { usernameFragment }
    /// The fragment, for `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["usernameFragment": usernameFragment]) }
}
