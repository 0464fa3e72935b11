// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Glibc
import Synchronization

/// One UDP port and its thread: the transports of all remote peers, and the media of one client.
///
/// The thread sleeps in `poll` until a datagram, the client's microphone, an order or a deadline wakes it. Methods are for any
/// thread and return at once; their orders are executed in order.
public final class MediaPort: @unchecked Sendable {  // the thread's own, constant, atomic or locked
    /// The bound address with the actual port.
    public let localAddress: SocketAddress
    /// The events, for one reader. None is dropped.
    public let events: AsyncStream<MediaPortEvent>
    let eventContinuation: AsyncStream<MediaPortEvent>.Continuation
    /// The remote peers' messages, for one reader. If more than 256 are waiting, the oldest are dropped.
    public let messages: AsyncStream<(peer: PeerID, bytes: [UInt8])>
    let messageContinuation: AsyncStream<(peer: PeerID, bytes: [UInt8])>.Continuation
    let socket: MediaSocket
    let wakeup: Wakeup
    /// Belongs to the port's thread.
    let core: MediaPortCore
    var monitor: NetworkMonitor?
    var counted = MediaPortWork()

    /// Identifies the transport of a remote peer from ``add(_:_:)`` to ``remove(_:)``.
    public struct TransportID: Hashable, Sendable {
        let number: UInt64

        package init(number: UInt64) { self.number = number }
    }

    private let nextTransport = Atomic<UInt64>(1)
    let orders = Mutex<[MediaPortCore.Order]>([])
    let published = Mutex(Published())
    let running = Atomic<Bool>(false)
    private let fixed: [IPAddress]?
    private var thread = pthread_t()

    /// The state for other threads.
    struct Published {
        var reports: [PeerID: MediaPortReport] = [:]
        var work = MediaPortWork()
    }

    /// Binds a port; ``start()`` starts serving it.
    /// - Parameters:
    ///   - identity: the local identity, whose certificate fingerprint remote peers know.
    ///   - address: nil for every address of this machine, also after changes.
    ///   - port: 0 lets the system choose.
    ///   - client: the client whose media it transports; nil for none.
    public init(
        identity: Identity, address: IPAddress? = nil, port: UInt16, client: (any MediaClient)? = nil
    ) throws(UDPSocketError) {
        socket = try MediaSocket(address: address, port: port)
        localAddress = socket.localAddress
        wakeup = client?.wakeup ?? Wakeup()
        fixed = address.map { [$0] }
        (events, eventContinuation) = AsyncStream.makeStream()
        (messages, messageContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        core = MediaPortCore(identity: identity, client: client) { [eventContinuation] in
            eventContinuation.yield($0)
        } deliverMessage: { [messageContinuation] in
            messageContinuation.yield((peer: $0, bytes: $1))
        }
        // Without notifications the present addresses stay in use.
        monitor = address == nil ? try? NetworkMonitor(includingLoopback: true) : nil
        core.setLocalAddresses(addresses, at: .now())
    }

    /// The local addresses for remote peers, the most useful first. Call it before ``start()``.
    public var addresses: [IPAddress] { fixed ?? monitor?.addresses.map(\.address) ?? [] }

    /// Starts serving until ``stop()``; the thread retains the port.
    /// - Returns: false if the system cannot create a thread.
    public func start() -> Bool {
        running.store(true, ordering: .releasing)
        let kept = unsafe Unmanaged.passRetained(self)
        let code = unsafe earshot_start_thread(
            &thread,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<MediaPort>.fromOpaque(context).takeRetainedValue().run()
                }
                return nil
            }, unsafe kept.toOpaque())
        if code == 0 { return true }
        running.store(false, ordering: .releasing)
        unsafe kept.release()
        return false
    }

    /// Removes and notifies every remote peer, ends the thread and waits for it.
    public func stop() {
        guard running.exchange(false, ordering: .sequentiallyConsistent) else { return }
        wakeup.handle.wake()
        pthread_join(thread, nil)
        eventContinuation.finish()
        messageContinuation.finish()
    }

    /// Adds a remote peer.
    /// - Precondition: no other peer has its number or our credentials.
    /// - Returns: the transport that its events name.
    @discardableResult public func add(_ peer: PeerID, _ setup: LocalTransportParameters) -> TransportID {
        let transportID = TransportID(number: nextTransport.add(1, ordering: .relaxed).oldValue)
        ask(.add(peer, setup, transportID))
        return transportID
    }

    /// Sets the parameters of a remote peer's description.
    public func setRemote(_ remote: RemoteTransportParameters, of peer: PeerID) { ask(.setRemote(peer, remote)) }

    /// Removes a remote peer and notifies it.
    public func remove(_ peer: PeerID) { ask(.remove(peer)) }

    /// Sends a message, which may be lost or reordered, and is dropped without a path.
    /// - Precondition: 1 to ``DTLSSession/maximumMessageSize`` bytes.
    public func send(_ message: [UInt8], to peer: PeerID) {
        precondition((1...DTLSSession.maximumMessageSize).contains(message.count))
        ask(.message(peer, message))
    }

    /// Returns the state of a remote peer's transport, at most 0.15 s old; nil if it is unknown.
    public func report(of peer: PeerID) -> MediaPortReport? { published.withLock { $0.reports[peer] } }

    /// The thread's work, at most 0.15 s old; complete after ``stop()``.
    package var work: MediaPortWork { published.withLock { $0.work } }

    private func ask(_ order: MediaPortCore.Order) {
        orders.withLock { $0.append(order) }
        wakeup.handle.wake()
    }
}

/// The state of the transport to a remote peer.
public struct MediaPortReport: Hashable, Sendable {
    /// Its state.
    public var state: TransportState
    /// The pair of addresses of media; nil without a path.
    public var pair: ICEPair?
    /// The seconds of a round trip; nil until known.
    public var roundTrip: Double?
    /// The verified key; nil before.
    public var key: PublicKey?
    /// The counts of packets.
    public var statistics: TransportStatistics
}
