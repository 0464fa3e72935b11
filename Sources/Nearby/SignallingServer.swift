import AudioBase
import Glibc
import MediaTransport

/// The host's side of the signalling: listens on TCP, takes one offer a connection, and gets it an answer or a refusal.
///
/// Several callers may be on the line at once, so that a slow one holds nobody up; garbage and callers slower than
/// ``messageTimeout`` get a refusal. One thread; it blocks in ``accept(timeout:isCancelled:)``, never for longer than 100 ms
/// without looking whether it is cancelled.
public final class SignallingServer {
    /// Seconds a caller has for its offer, and we have for the reply.
    public static let defaultMessageTimeout = 10.0
    /// Callers on the line at most; one more is refused.
    public static let maximumCallers = 16

    /// Where it listens, the chosen port included.
    public let localAddress: SocketAddress
    /// Seconds a caller has for its offer.
    public let messageTimeout: Double
    /// Callers that were turned away here, for garbage or slowness.
    public private(set) var turnedAwayCount = 0
    /// Why the last one was.
    public private(set) var lastTurnedAway: SignallingError?

    private let fileDescriptor: CInt
    private var callers: [(connection: TCPConnection, deadline: HostTime)] = []

    /// Begins to listen.
    /// - Parameter port: 0 lets the system choose.
    public init(address: IPAddress, port: UInt16, messageTimeout: Double = defaultMessageTimeout)
        throws(SignallingError)
    {
        let wanted = SocketAddress(address, port: port)
        let fd = socket(wanted.family, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { throw SignallingError(errno, listeningOn: wanted) }
        var on: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        _ = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, size)  // a host that ended may come back at once
        if address.isV6 { _ = setsockopt(fd, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
        guard wanted.withKernelAddress({ bind(fd, $0, $1) }) == 0, listen(fd, 16) == 0,
            let local = SocketAddress.filled(by: { getsockname(fd, $0, &$1) })
        else {
            let error = SignallingError(errno, listeningOn: wanted)
            close(fd)
            throw error
        }
        fileDescriptor = fd
        localAddress = local
        self.messageTimeout = messageTimeout
    }

    deinit { close(fileDescriptor) }

    /// Waits for an offer.
    /// - Parameters:
    ///   - timeout: seconds.
    ///   - isCancelled: asked each 100 ms, on this thread.
    /// - Returns: nil when the time is over or the wait was cancelled.
    public func accept(timeout: Double, isCancelled: () -> Bool = { false }) throws(SignallingError) -> IncomingOffer? {
        let end = HostTime.now().advanced(bySeconds: min(timeout, 1e9))
        while true {
            let entries = ([fileDescriptor] + callers.map(\.connection.fileDescriptor)).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let deadline = callers.reduce(end) { min($0, $1.deadline) }
            let ready = try poll(entries, deadline: deadline, isCancelled: isCancelled)
            if isCancelled() { return nil }
            var staying: [(connection: TCPConnection, deadline: HostTime)] = []
            var found: IncomingOffer?
            for (i, caller) in callers.enumerated() {
                if found == nil, ready[i + 1].revents != 0 {
                    found = offer(from: caller.connection) { staying.append(caller) }
                } else if caller.deadline <= .now() {
                    turnAway(caller.connection, .timedOut(caller.connection.peerAddress))
                } else {
                    staying.append(caller)
                }
            }
            callers = staying
            if let found { return found }
            if ready[0].revents != 0 { try takeCaller() }
            if end <= .now() { return nil }
        }
    }

    private func poll(_ entries: [pollfd], deadline: HostTime, isCancelled: () -> Bool) throws(SignallingError)
        -> [pollfd]
    {
        var entries = entries
        _ = try entries.withUnsafeMutableBufferPointer { buffer throws(SignallingError) in
            guard let base = buffer.baseAddress else { return false }
            return try Nearby.poll(base, count: buffer.count, deadline: deadline, isCancelled: isCancelled)
        }
        return entries
    }

    private func takeCaller() throws(SignallingError) {
        var fd: CInt = -1
        let peer = SocketAddress.filled {
            fd = Glibc.accept(fileDescriptor, $0, &$1)
            return fd
        }
        guard fd >= 0 else {
            switch errno {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM, EBADF, EINVAL: throw .system(errno)
            default: return  // the caller is gone already
            }
        }
        guard let peer else {
            close(fd)
            return
        }
        _ = fcntl(fd, F_SETFL, O_NONBLOCK)
        _ = fcntl(fd, F_SETFD, FD_CLOEXEC)
        let connection = TCPConnection(fileDescriptor: fd, peerAddress: peer)
        if callers.count >= Self.maximumCallers {
            connection.refuse("too many callers at once; try again")
        } else {
            callers.append((connection, HostTime.now().advanced(bySeconds: messageTimeout)))
        }
    }

    /// Reads on; calls `stay` when the offer is not whole yet.
    private func offer(from caller: TCPConnection, stay: () -> Void) -> IncomingOffer? {
        do throws(SignallingError) {
            guard let message = try caller.read() else {
                stay()
                return nil
            }
            guard message.kind == .offer else { throw .unexpected(message.kind) }
            do throws(SDPError) {
                return IncomingOffer(try SessionDescription(parsing: message.body), from: caller)
            } catch {
                throw .badDescription(error)
            }
        } catch {
            turnAway(caller, error)
            return nil
        }
    }

    private func turnAway(_ caller: TCPConnection, _ error: SignallingError) {
        turnedAwayCount += 1
        lastTurnedAway = error
        switch error {
        case .closed: break
        case .timedOut: caller.refuse("no offer came within \(Int(messageTimeout)) s")
        default: caller.refuse(error.description)
        }
    }
}

extension TCPConnection {
    /// Says no, as far as the other side listens; it is not waited for.
    func refuse(_ reason: String) {
        let message = SignallingMessage(.refused, body: Array(reason.utf8.prefix(1_024)))
        do throws(SignallingError) { try write(message, deadline: .now()) } catch { return }
        finish()
    }
}
