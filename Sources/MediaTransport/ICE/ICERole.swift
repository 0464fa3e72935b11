// SPDX-License-Identifier: Apache-2.0

/// A kind of ICE agent (RFC 8445 §2.5).
public enum ICEMode: Hashable, Sendable {
    /// It sends checks and answers the peer's.
    case full
    /// It answers checks.
    case lite
}

/// The side that decides on the pair to use (RFC 8445 §6.1.1): between full agents the one that offered.
public enum ICERole: Hashable, Sendable {
    /// The local side chooses.
    case controlling
    /// The remote peer chooses.
    case controlled

    var opposite: ICERole { self == .controlling ? .controlled : .controlling }
}
