// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The reason that a host has no join code, or that a text is not one.
public enum JoinCodeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A character that no code has; the position is counted from 1, without blanks and hyphens.
    case wrongCharacter(Character, position: Int)
    /// The text has the wrong number of characters.
    case wrongLength(Int)
    /// A character is another than it should be, or two have changed places.
    case wrongCheck
    /// A kind of code that a later Earshot writes.
    case otherVersion
    /// The code stands for no address and port, or is written in a way that we do not write.
    case notACode
    /// The address means something on one network interface only, and a code does not say on which.
    case linkLocal(IPAddress)
    /// An address at which no host is: 0.0.0.0, ::, or a group's.
    case notAHost(IPAddress)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .wrongCharacter(let character, let position):
            "character \(position) of the join code, '\(BoundedText.printable(String(character), limit: 4))', is in no "
                + "code: they have digits and letters without I, L, O and U"
        case .wrongLength(let count): "the join code has \(count) characters; codes have 16, 20, 36 or 39"
        case .wrongCheck: "a character of the join code is wrong, or two have changed places"
        case .otherVersion: "a newer Earshot made this join code"
        case .notACode: "the join code holds no address and port"
        case .linkLocal(let address):
            "\(address) holds on one network interface only, which a join code cannot carry to another machine"
        case .notAHost(let address): "\(address) is no machine's address"
        }
    }
}
