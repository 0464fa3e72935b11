import AudioBase
import MediaTransport

/// A caller's offer, waiting for its reply. Dropped without one, it hangs up on the caller.
public struct IncomingOffer: ~Copyable {
    /// What the caller offers.
    public let offer: SessionDescription
    private let connection: TCPConnection

    init(_ offer: SessionDescription, from connection: TCPConnection) {
        self.offer = offer
        self.connection = connection
    }

    /// The caller's.
    public var peerAddress: SocketAddress { connection.peerAddress }

    /// The address of ours that the caller reached: the one to name in the answer. Nil when the caller is gone.
    public var localAddress: IPAddress? { connection.localAddress?.address }

    /// Takes the call. Blocks until the caller's machine has the answer, or 10 s have passed.
    public consuming func answer(_ answer: SessionDescription) throws(SignallingError) {
        let message = SignallingMessage(.answer, body: Array(answer.description.utf8))
        try connection.write(
            message, deadline: .now().advanced(bySeconds: SignallingServer.defaultMessageTimeout))
        connection.finish()
    }

    /// Declines the call.
    /// - Parameter reason: one line for the caller's user.
    public consuming func refuse(_ reason: String) { connection.refuse(reason) }
}
