import AudioBase
import Glibc
import MediaTransport

/// The guest's side of the signalling: connects to a host, sends an offer and gets the answer. One thread, which blocks.
public final class SignallingClient {
    private let connection: TCPConnection

    /// Connects to the first of the host's addresses that answers.
    /// - Parameters:
    ///   - host: a name or a numeric address.
    ///   - timeout: seconds for each address.
    ///   - isCancelled: asked each 100 ms, on this thread.
    public init(connectingTo host: String, port: UInt16, timeout: Double = 5, isCancelled: () -> Bool = { false })
        throws(SignallingError)
    {
        let addresses: [SocketAddress]
        do throws(ResolutionError) {
            addresses = try SocketAddress.resolve(host, port: port)
        } catch {
            throw .unknownHost(error)
        }
        var failure = SignallingError.unknownHost(.init(host: host, reason: "it has no IP address"))
        for address in addresses {
            do throws(SignallingError) {
                connection = try Self.connect(to: address, timeout: timeout, isCancelled: isCancelled)
                return
            } catch .cancelled {
                throw .cancelled
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// The host's address.
    public var peerAddress: SocketAddress { connection.peerAddress }

    /// The address of ours that leads to the host: the one to name in the offer. Nil when the host is gone.
    public var localAddress: IPAddress? { connection.localAddress?.address }

    /// Sends the offer and waits for the reply; once a connection.
    /// - Parameters:
    ///   - timeout: seconds.
    ///   - isCancelled: asked each 100 ms, on this thread.
    /// - Returns: the host's answer.
    public func exchange(_ offer: SessionDescription, timeout: Double = 10, isCancelled: () -> Bool = { false })
        throws(SignallingError) -> SessionDescription
    {
        let deadline = HostTime.now().advanced(bySeconds: timeout)
        let text = Array(offer.description.utf8)
        guard text.count <= SignallingMessage.maximumBodySize else {
            throw .badDescription(SDPError(.tooLarge(text.count)))
        }
        try connection.write(SignallingMessage(.offer, body: text), deadline: deadline, isCancelled: isCancelled)
        while true {
            try connection.wait(for: POLLIN, deadline: deadline, isCancelled: isCancelled)
            guard let message = try connection.read() else { continue }
            switch message.kind {
            case .refused: throw .refused(reason: message.text)
            case .offer: throw .unexpected(.offer)
            case .answer: break
            }
            do throws(SDPError) {
                return try SessionDescription(parsing: message.body)
            } catch {
                throw .badDescription(error)
            }
        }
    }

    private static func connect(to address: SocketAddress, timeout: Double, isCancelled: () -> Bool)
        throws(SignallingError) -> TCPConnection
    {
        let fd = socket(address.family, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { throw SignallingError(errno, with: address) }
        let connection = TCPConnection(fileDescriptor: fd, peerAddress: address)
        if address.withKernelAddress({ Glibc.connect(fd, $0, $1) }) == 0 { return connection }
        guard errno == EINPROGRESS || errno == EINTR else { throw SignallingError(errno, with: address) }
        try connection.wait(
            for: POLLOUT, deadline: HostTime.now().advanced(bySeconds: timeout), isCancelled: isCancelled)
        var code: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else {
            throw SignallingError(errno, with: address)
        }
        guard code == 0 else { throw SignallingError(code, with: address) }
        return connection
    }
}
