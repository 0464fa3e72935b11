// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Glibc
import Synchronization

/// One UDP port and its thread: the transports of all remote peers, and the media of one client.
///
/// The thread sleeps in `poll` until a datagram, the client's microphone, an order or a deadline wakes it. Methods are for any
/// thread. All but ``stop()`` return at once; the port's thread executes their orders one after the other.
public final class MediaPort: @unchecked Sendable {  // properties: the thread's own, constant, atomic or locked
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
    /// The port without its socket, thread and clock. While the port's thread runs, no other thread uses the core, the monitor or
    /// the counts.
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
    private let fixedAddresses: [IPAddress]?
    private var thread = pthread_t()

    /// The reports and counts that the port's thread publishes for other threads.
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
        fixedAddresses = address.map { [$0] }
        (events, eventContinuation) = AsyncStream.makeStream()
        (messages, messageContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        core = MediaPortCore(identity: identity, client: client, clock: { .now() }) { [eventContinuation] in
            eventContinuation.yield($0)
        } deliverMessage: { [messageContinuation] in
            messageContinuation.yield((peer: $0, bytes: $1))
        }
        // Without the kernel's notifications and lists there is no monitor, and no local address.
        monitor = address == nil ? try? NetworkMonitor(includingLoopback: true) : nil
        core.setLocalAddresses(addresses, at: .now())
    }

    /// The local addresses for remote peers, the most useful first. Read this before ``start()`` only.
    public var addresses: [IPAddress] { fixedAddresses ?? monitor?.addresses.map(\.address) ?? [] }

    /// Starts serving until ``stop()``; the thread retains the port.
    /// - Returns: false if the system cannot create a thread.
    public func start() -> Bool {
        running.store(true, ordering: .releasing)
        let retainedSelf = unsafe Unmanaged.passRetained(self)
        let code = unsafe earshot_start_thread(
            &thread,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<MediaPort>.fromOpaque(context).takeRetainedValue().run()
                }
                return nil
            }, unsafe retainedSelf.toOpaque())
        if code == 0 { return true }
        running.store(false, ordering: .releasing)
        unsafe retainedSelf.release()
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
    /// - Precondition: no other remote peer has this ID or the same local credentials.
    /// - Returns: the ID of the transport, by which events refer to it.
    @discardableResult public func add(_ peer: PeerID, _ setup: LocalTransportParameters) -> TransportID {
        let transportID = TransportID(number: nextTransport.add(1, ordering: .relaxed).oldValue)
        enqueue(.add(peer, setup, transportID))
        return transportID
    }

    /// Sets the parameters from a remote peer's session description.
    public func setRemote(_ remote: RemoteTransportParameters, of peer: PeerID) { enqueue(.setRemote(peer, remote)) }

    /// Removes a remote peer and notifies it.
    public func remove(_ peer: PeerID) { enqueue(.remove(peer)) }

    /// Sends a message, which may be lost or reordered, and is dropped without a path.
    /// - Precondition: 1 to ``DTLSSession/maximumMessageSize`` bytes.
    public func send(_ message: [UInt8], to peer: PeerID) {
        precondition((1...DTLSSession.maximumMessageSize).contains(message.count))
        enqueue(.message(peer, message))
    }

    /// Returns the report on a remote peer's transport, at most 0.15 s old; nil for an unknown peer.
    public func report(of peer: PeerID) -> MediaPortReport? { published.withLock { $0.reports[peer] } }

    /// The counts of the thread's work, at most 0.15 s old; complete after ``stop()``.
    package var work: MediaPortWork { published.withLock { $0.work } }

    private func enqueue(_ order: MediaPortCore.Order) {
        orders.withLock { $0.append(order) }
        wakeup.handle.wake()
    }
}

/// The state of the transport to a remote peer.
public struct MediaPortReport: Hashable, Sendable {
    /// The transport's state.
    public var state: TransportState
    /// The local and remote address between which media flows; nil without a path.
    public var pair: ICEPair?
    /// The seconds of a round trip; nil until known, and with browsers.
    public var roundTrip: Double?
    /// The remote peer's verified public key; nil until verified.
    public var key: PublicKey?
    /// The counts of the transport's packets.
    public var statistics: TransportStatistics
}
