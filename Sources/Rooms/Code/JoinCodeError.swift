// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The reason that a host has no join code, or that a text is not one.
public enum JoinCodeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The character is not used in codes; the position counts from 1, without blanks and hyphens.
    case wrongCharacter(Character, position: Int)
    /// The text has the wrong length; the value is its number of characters without blanks and hyphens, or of bytes if above 256.
    case wrongLength(Int)
    /// The check failed: a character is wrong, or two are exchanged.
    case wrongCheck
    /// The code is of a later version of Earshot.
    case otherVersion
    /// The code contains no valid address and port, or is not in its normal form.
    case notACode
    /// The address is valid on one network interface only, which a code does not name.
    case linkLocal(IPAddress)
    /// The address is not that of one machine: 0.0.0.0, ::, multicast, or 240.0.0.0 and above.
    case notAHost(IPAddress)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .wrongCharacter(let character, let position):
            "character \(position) of the join code, '\(BoundedText.printable(String(character), limit: 4))', is in no "
                + "code: they have digits and letters without I, L, O and U"
        case .wrongLength(let count): "the join code has \(count) characters; codes have 16, 20, 36 or 39"
        case .wrongCheck: "a character of the join code is wrong, or two are swapped"
        case .otherVersion: "a newer Earshot made this join code"
        case .notACode: "the join code contains no address and port"
        case .linkLocal(let address):
            "\(address) holds on one network interface only, which a join code cannot carry to another machine"
        case .notAHost(let address): "\(address) is not the address of one machine"
        }
    }
}
