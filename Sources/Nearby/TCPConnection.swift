import Glibc
import AudioBase
import MediaTransport

/// One non-blocking TCP connection that is to carry one message each way. One thread at a time.
final class TCPConnection {
    let fileDescriptor: CInt
    let peerAddress: SocketAddress
    private var parser = SignallingParser()

    /// Takes over a connected or connecting descriptor.
    init(fileDescriptor: CInt, peerAddress: SocketAddress) {
        self.fileDescriptor = fileDescriptor
        self.peerAddress = peerAddress
    }

    deinit { close(fileDescriptor) }

    /// Our end; nil when the connection is gone.
    var localAddress: SocketAddress? { .filled { getsockname(fileDescriptor, $0, &$1) } }

    /// Reads what is there.
    /// - Returns: the message once it is whole; nil when more must come.
    func read() throws(SignallingError) -> SignallingMessage? {
        try withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { buffer throws(SignallingError) in
            while true {
                let count = recv(fileDescriptor, buffer.baseAddress, buffer.count, 0)
                if count == 0 { throw .closed(peerAddress) }
                if count < 0 {
                    if errno == EINTR { continue }
                    if errno == EAGAIN { return nil }
                    throw SignallingError(errno, with: peerAddress)
                }
                do throws(SignallingParserError) {
                    let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                    if let message = try parser.take(piece) { return message }
                } catch {
                    throw .notSignalling(error)
                }
            }
        }
    }

    /// Sends a message whole, waiting for the other side to take it until `deadline`.
    func write(_ message: SignallingMessage, deadline: HostTime, isCancelled: () -> Bool = { false })
        throws(SignallingError)
    {
        var rest = message.bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(fileDescriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                try wait(for: POLLOUT, deadline: deadline, isCancelled: isCancelled)
            } else if errno != EINTR {
                throw SignallingError(errno, with: peerAddress)
            }
        }
    }

    /// Ends our side, and takes what still comes, so that closing does not discard what we sent (RFC 1122 §4.2.2.13).
    func finish() {
        shutdown(fileDescriptor, CInt(SHUT_WR))
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { buffer in
            var budget = 64  // a flood is cut off
            while budget > 0, recv(fileDescriptor, buffer.baseAddress, buffer.count, 0) > 0 { budget -= 1 }
        }
    }

    /// Waits until the descriptor is ready or fails.
    func wait(for events: CInt, deadline: HostTime, isCancelled: () -> Bool) throws(SignallingError) {
        while true {
            var entry = pollfd(fd: fileDescriptor, events: Int16(events), revents: 0)
            if try poll(&entry, count: 1, deadline: deadline, isCancelled: isCancelled) { return }
            if isCancelled() { throw .cancelled }
            throw .timedOut(peerAddress)
        }
    }
}

/// Seconds between looks at the cancellation check.
let cancellationInterval = 0.1

/// Polls in slices of ``cancellationInterval``.
/// - Returns: whether an entry is ready; false when the deadline has passed or the check says so.
func poll(
    _ entries: UnsafeMutablePointer<pollfd>, count: Int, deadline: HostTime, isCancelled: () -> Bool
) throws(SignallingError) -> Bool {
    while !isCancelled() {
        let left = deadline.seconds(since: .now())
        let slice = CInt(max(0, min(left, cancellationInterval) * 1_000).rounded(.up))
        let ready = Glibc.poll(entries, nfds_t(count), slice)
        if ready > 0 { return true }
        if ready < 0, errno != EINTR { throw .system(errno) }
        if left <= 0 { return false }
    }
    return false
}
