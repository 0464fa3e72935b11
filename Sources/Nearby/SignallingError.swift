import Glibc
import MediaTransport

/// Why no call came about.
public enum SignallingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host's name has no address.
    case unknownHost(ResolutionError)
    /// The host's machine is there, and nobody listens on the port.
    case connectionRefused(SocketAddress)
    /// No way leads to the host.
    case unreachable(SocketAddress)
    /// The other side did not answer in time.
    case timedOut(SocketAddress)
    /// Another process listens on the port.
    case portInUse(UInt16)
    /// The system forbids this address or port.
    case permissionDenied(SocketAddress)
    /// The address to listen on is none of this machine's.
    case addressNotAvailable(IPAddress)
    /// The host does not want the call; its words.
    case refused(reason: String)
    /// The other side sent something that is no message.
    case notSignalling(SignallingParserError)
    /// The other side sent a message of the wrong kind.
    case unexpected(SignallingMessage.Kind)
    /// The other side's session description cannot be read.
    case badDescription(SDPError)
    /// The other side hung up before its message was whole.
    case closed(SocketAddress)
    /// The caller's cancellation check said so.
    case cancelled
    /// Whatever else the system says; the value is its `errno`.
    case system(CInt)

    init(_ code: CInt, with peer: SocketAddress) {
        self =
            switch code {
            case ECONNREFUSED: .connectionRefused(peer)
            case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EINVAL, EAFNOSUPPORT: .unreachable(peer)
            case ETIMEDOUT: .timedOut(peer)
            case ECONNRESET, EPIPE: .closed(peer)
            case EACCES, EPERM: .permissionDenied(peer)
            default: .system(code)
            }
    }

    init(_ code: CInt, listeningOn address: SocketAddress) {
        self =
            switch code {
            case EADDRINUSE: .portInUse(address.port)
            case EACCES, EPERM: .permissionDenied(address)
            case EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL, ENODEV: .addressNotAvailable(address.address)
            default: .system(code)
            }
    }

    /// One line for the user, with the next step.
    public var description: String {
        switch self {
        case .unknownHost(let error): error.description
        case .connectionRefused(let address):
            "nobody answers at \(address): is 'earshot host' running there, on port \(address.port)?"
        case .unreachable(let address):
            "no route to \(address); check the network with: ip route get \(address.address)"
        case .timedOut(let address):
            "\(address) did not answer in time; check the address, and that no firewall blocks TCP port \(address.port)"
        case .portInUse(let port):
            "TCP port \(port) is in use; choose another with --port, or see who holds it: ss -ltnp 'sport = :\(port)'"
        case .permissionDenied(let address):
            "no permission for TCP on \(address); take a port from 1024 up, and see whether a firewall forbids it"
        case .addressNotAvailable(let address): "\(address) is no address of this machine; see them with: ip address"
        case .refused(let reason): "the host refused the call: \(reason)"
        case .notSignalling(let error): error.description
        case .unexpected(let kind): "the other side sent \(kind.rawValue) out of turn; install the same version on both"
        case .badDescription(let error): "the other side's \(error); install the same version on both"
        case .closed(let address): "\(address) hung up before the call began; try again, and see what it printed"
        case .cancelled: "cancelled before the call began"
        case .system(let code): "TCP: \(String(cString: strerror(code))); try again, and report it if it stays"
        }
    }
}
