// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An error of a UDP socket.
public enum UDPSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another socket of this machine has the port.
    case portInUse(UInt16)
    /// The system, or its firewall, forbids the address or the port.
    case permissionDenied(SocketAddress)
    /// The local address to bind to or send from is not this machine's, or its family is disabled.
    case addressNotAvailable(IPAddress)
    /// There is no route to the peer.
    case unreachable(SocketAddress)
    /// The datagram is too large for UDP.
    case tooLarge
    /// Another system error; the value is an `errno`.
    case system(CInt)

    init(_ code: CInt, binding address: SocketAddress) {
        self =
            switch code {
            case EADDRINUSE: .portInUse(address.port)
            case EACCES, EPERM: .permissionDenied(address)
            case EADDRNOTAVAIL, EAFNOSUPPORT, ENODEV, EINVAL: .addressNotAvailable(address.address)
            default: .system(code)
            }
    }

    init(_ code: CInt, reaching peer: SocketAddress?) {
        guard let peer else {
            self = .system(code)
            return
        }
        self =
            switch code {
            case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EINVAL, EAFNOSUPPORT, ENODEV, ENXIO:
                .unreachable(peer)
            case EACCES, EPERM: .permissionDenied(peer)
            case EMSGSIZE: .tooLarge
            default: .system(code)
            }
    }

    /// - Parameter local: the requested source address, if any.
    init(_ code: CInt, reaching peer: SocketAddress, from local: IPAddress?) {
        if let local, code == EINVAL || code == EADDRNOTAVAIL {
            self = .addressNotAvailable(local)
        } else {
            self.init(code, reaching: peer)
        }
    }

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .portInUse(let port): "UDP port \(port) is in use"
        case .permissionDenied(let address): "no permission for UDP on \(address)"
        case .addressNotAvailable(let address): "\(address) is not an address of this machine"
        case .unreachable(let peer): "no route to \(peer)"
        case .tooLarge: "the datagram is too large for UDP"
        case .system(let code): unsafe "UDP: \(String(cString: strerror(code)))"
        }
    }
}
