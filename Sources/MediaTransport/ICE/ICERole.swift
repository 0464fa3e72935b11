// SPDX-License-Identifier: Apache-2.0

/// A kind of ICE agent (RFC 8445 §2.5).
public enum ICEMode: Hashable, Sendable {
    /// The agent sends checks and answers those of the peer.
    case full
    /// The agent answers checks and sends none.
    case lite
}

/// The local role in the choice of the pair to use (RFC 8445 §6.1.1): between full agents the offerer is controlling.
public enum ICERole: Hashable, Sendable {
    /// The local side chooses.
    case controlling
    /// The remote peer chooses.
    case controlled

    var opposite: ICERole { self == .controlling ? .controlled : .controlling }
}
