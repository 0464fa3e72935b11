// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Glibc
import Synchronization

/// One UDP port with the thread that serves it: all remote peers' ways, and the media of one client.
///
/// The thread sleeps in `poll` until a datagram comes, the client's microphone wakes it, somebody asks for something, or a
/// deadline has come. Its methods are for any thread and return at once; what they ask for happens in the order of asking.
public final class MediaPort: @unchecked Sendable {  // the thread's own, constant, atomic or locked
    /// The bound address, the chosen port included.
    public let localAddress: SocketAddress
    /// The events, for one reader. Nothing is dropped.
    public let events: AsyncStream<MediaPortEvent>
    let eventContinuation: AsyncStream<MediaPortEvent>.Continuation
    /// Remote peers' messages, for one reader. The oldest of more than 256 that wait are dropped.
    public let messages: AsyncStream<(peer: PeerID, bytes: [UInt8])>
    let messageNews: AsyncStream<(peer: PeerID, bytes: [UInt8])>.Continuation
    let socket: MediaSocket
    let wakeup: Wakeup
    /// The thread's own.
    let core: MediaPortCore
    var monitor: NetworkMonitor?
    var counted = MediaPortWork()

    /// A way to a remote peer, from its ``add(_:_:)`` to its ``remove(_:)``.
    public struct Way: Hashable, Sendable {
        let number: UInt64

        package init(number: UInt64) { self.number = number }
    }

    private let nextWay = Atomic<UInt64>(1)
    let orders = Mutex<[MediaPortCore.Order]>([])
    let published = Mutex(Published())
    let running = Atomic<Bool>(false)
    private let fixed: [IPAddress]?
    private var thread = pthread_t()

    /// State that other threads may read.
    struct Published {
        var reports: [PeerID: MediaPortReport] = [:]
        var work = MediaPortWork()
    }

    /// Binds a port; ``start()`` begins to serve it.
    /// - Parameters:
    ///   - identity: whose certificate the remote peers were told of.
    ///   - address: nil takes every address of this machine and follows when they change.
    ///   - port: 0 lets the system choose.
    ///   - client: whose media it carries; nil for none.
    public init(
        identity: Identity, address: IPAddress? = nil, port: UInt16, client: (any MediaClient)? = nil
    ) throws(UDPSocketError) {
        socket = try MediaSocket(address: address, port: port)
        localAddress = socket.localAddress
        wakeup = client?.wakeup ?? Wakeup()
        fixed = address.map { [$0] }
        (events, eventContinuation) = AsyncStream.makeStream()
        (messages, messageNews) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        core = MediaPortCore(identity: identity, client: client) { [eventContinuation] in
            eventContinuation.yield($0)
        } tellMessage: { [messageNews] in
            messageNews.yield((peer: $0, bytes: $1))
        }
        // Without news of addresses those of now have to do.
        monitor = address == nil ? try? NetworkMonitor(includingLoopback: true) : nil
        core.setLocalAddresses(addresses, at: .now())
    }

    /// The addresses at which remote peers may reach this port, the most useful first. Before ``start()``.
    public var addresses: [IPAddress] { fixed ?? monitor?.addresses.map(\.address) ?? [] }

    /// Begins to serve, until ``stop()``: the thread keeps the port.
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

    /// Lets go of every remote peer, which are told, and ends the thread; returns once it has ended.
    public func stop() {
        guard running.exchange(false, ordering: .sequentiallyConsistent) else { return }
        wakeup.handle.wake()
        pthread_join(thread, nil)
        eventContinuation.finish()
        messageNews.finish()
    }

    /// Awaits a remote peer. - Precondition: nobody else has its number or our credentials.
    /// - Returns: what its states are told of by.
    @discardableResult public func add(_ peer: PeerID, _ setup: LocalTransportParameters) -> Way {
        let way = Way(number: nextWay.add(1, ordering: .relaxed).oldValue)
        ask(.add(peer, setup, way))
        return way
    }

    /// Tells what a remote peer's description says.
    public func setRemote(_ remote: RemoteTransportParameters, of peer: PeerID) { ask(.setRemote(peer, remote)) }

    /// Ends the way to a remote peer, which is told.
    public func remove(_ peer: PeerID) { ask(.remove(peer)) }

    /// Sends a message, which may be lost or reordered; it is dropped if there is no path.
    /// - Precondition: 1 to ``DTLSSession/maximumMessageSize`` bytes.
    public func send(_ message: [UInt8], to peer: PeerID) {
        precondition((1...DTLSSession.maximumMessageSize).contains(message.count))
        ask(.message(peer, message))
    }

    /// Returns the state of the transport to a remote peer, 0.15 s old or less; nil if it is unknown.
    public func report(of peer: PeerID) -> MediaPortReport? { published.withLock { $0.reports[peer] } }

    /// The thread's work until 0.15 s ago or less; after ``stop()`` all of it.
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
    /// The pair of addresses that media uses; nil without a path.
    public var pair: ICEPair?
    /// Seconds there and back; nil until known.
    public var roundTrip: Double?
    /// The key it has proven to have; nil before.
    public var key: PublicKey?
    /// The counts of packets.
    public var statistics: TransportStatistics
}
