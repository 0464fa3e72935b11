// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The reason that a session cannot start or carry out an order.
public enum NearbyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process listens on the TCP port.
    case portInUse(UInt16)
    /// The system forbids listening on the TCP port.
    case permissionDenied(UInt16)
    /// The address to listen on is not this machine's.
    case addressNotAvailable(IPAddress)
    /// The TCP server failed, or its certificate and key cannot be used; the value is a message.
    case signalling(String)
    /// The UDP socket failed.
    case media(UDPSocketError)
    /// The identity or the known peers cannot be read or written.
    case store(NearbyStoreError)
    /// The system has no thread left.
    case noThread
    /// The session is already in a room.
    case busy
    /// The session was closed.
    case closed

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .portInUse(let port): "TCP port \(port) is in use"
        case .permissionDenied(let port): "no permission to listen on TCP port \(port)"
        case .addressNotAvailable(let address): "\(address) is not an address of this machine"
        case .signalling(let reason): reason
        case .media(let error): error.description
        case .store(let error): error.description
        case .noThread: "the system cannot create a thread"
        case .busy: "this session is already in a room"
        case .closed: "this session is closed"
        }
    }
}

extension NearbyError {
    init(_ error: HTTPSError) {
        self =
            switch error {
            case .portInUse(let port): .portInUse(port)
            case .permissionDenied(let port): .permissionDenied(port)
            case .addressNotAvailable(let address): .addressNotAvailable(address)
            default: .signalling(error.description)
            }
    }
}
