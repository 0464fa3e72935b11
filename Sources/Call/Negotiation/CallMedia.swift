// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDevices
import EarshotMediaTransport
import Synchronization

/// A call's media on a ``MediaPort``'s thread: captured frames go to every remote peer, and their packets to the playouts.
///
/// Orders are executed in sequence, at the thread's next turn. A remote peer that the port removes gets a goodbye and nothing
/// more; ``end(_:)`` forgets the peer. `core`, `peers`, `open` and `error` belong to the thread; the rest is constant, atomic
/// or locked.
final class CallMedia: ClockedMediaClient, @unchecked Sendable {
    private var core: MediaCore
    let wakeup: Wakeup
    private let deviceBlock: Atomic<Int>
    private let priority = Atomic<Int>(0)  // 0 for none
    private let orders = Mutex<[Order]>([])
    private let published: Mutex<Outcome>
    private var peers: Set<PeerID> = []
    private var open: Set<PeerID> = []
    private var error: CodecError?
    private var lastPublished = HostTime(nanoseconds: 0)
    private static let reportInterval = 0.05  // seconds
    /// The number of goodbyes sent to a remote peer: if the only one were lost, the local peer would seem to have vanished.
    private static let goodbyeCount = 3

    private enum Order: @unchecked Sendable {  // its objects are handed over to the thread, not shared
        case add(PeerID, MediaPeer, waits: Bool)
        case listen(PeerID, RecordingPlayout?)
        case receive([PayloadFormat], from: PeerID)
        case expect(opusLookahead: Int, from: PeerID)
        case suspend(PeerID)
        case end(PeerID)
    }

    /// The values for other threads.
    private struct Outcome {
        var statistics: [PeerID: MediaStatistics] = [:]
        /// The error that stopped sending.
        var failure: CodecError?
    }

    init(core: consuming MediaCore, wakeup: Wakeup) {
        self.wakeup = wakeup
        deviceBlock = Atomic(core.deviceBlock)
        published = Mutex(Outcome())
        self.core = core
    }

    /// Returns a remote peer's counts, at most 0.15 s old; nil if there is no media with it. Any thread.
    func statistics(of peer: PeerID) -> MediaStatistics? { published.withLock { $0.statistics[peer] } }

    /// The error that stopped sending; nil if there is none. Any thread.
    var failure: CodecError? { published.withLock { $0.failure } }

    /// Adds a remote peer, or replaces its media. Any thread.
    /// - Parameter waits: true to replace the media only when the first packet of the new format arrives.
    func add(_ peer: MediaPeer, as id: PeerID, waits: Bool = false) { ask(.add(id, peer, waits: waits)) }

    /// Sets a second playout for this remote peer's packets, until media is renegotiated; nil for none. Any thread.
    func listen(_ listener: RecordingPlayout?, to id: PeerID) { ask(.listen(id, listener)) }

    /// Accepts packets of more formats, because an offer to this remote peer contains them. Any thread.
    func receive(_ formats: [PayloadFormat], from id: PeerID) { ask(.receive(formats, from: id)) }

    /// Notes the look-ahead of a remote peer's Opus encoder by a description. Any thread.
    func expect(opusLookahead: Int, from id: PeerID) { ask(.expect(opusLookahead: opusLookahead, from: id)) }

    /// Suspends media with this remote peer. Any thread.
    func suspend(_ id: PeerID) { ask(.suspend(id)) }

    /// Removes a remote peer. Any thread.
    func end(_ id: PeerID) { ask(.end(id)) }

    private func ask(_ order: Order) {
        orders.withLock { $0.append(order) }
        wakeup.handle.wake()
    }

    /// Follows the device's block size and schedules the media thread just below the device's callback, or normally if the
    /// callback's thread has no real-time priority. Any thread.
    /// - Parameter microphone: the capturing device; nil if `device` captures.
    func follow(_ device: any AudioDevice, microphone: (any AudioDevice)? = nil) {
        deviceBlock.store((microphone ?? device).blockFrameCount, ordering: .relaxed)
        priority.store(device.realTimePriority.map { max(1, $0 - 1) } ?? 0, ordering: .relaxed)
    }

    // MARK: The port's thread

    var realTimePriority: Int? {
        let value = priority.load(ordering: .relaxed)
        return value > 0 ? value : nil
    }
    /// True if captured frames or orders wait. Orders do not count while another thread holds their lock, because that thread
    /// then wakes the media thread.
    var hasMedia: Bool { error == nil && core.hasCaptured || !(orders.withLockIfAvailable { $0.isEmpty } ?? true) }
    var nextDeadline: HostTime? { core.nextDeadline }

    func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime) {
        core.receive(packet, from: peer, at: now)
    }

    func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime, arrived: HostTime) {
        core.receive(packet, from: peer, at: now, arrived: arrived)
    }

    func pathChanged(to peer: PeerID) { core.pathChanged(to: peer) }

    func measured(roundTrip: Double, to peer: PeerID) { core.measured(roundTrip: roundTrip, to: peer) }

    func slept() { core.slept() }

    func setOpen(_ isOpen: Bool, to peer: PeerID) {
        if isOpen { open.insert(peer) } else { open.remove(peer) }
        core.setOpen(isOpen, to: peer)
    }

    func sendMedia(at now: HostTime, _ send: MediaSend) {
        takeOrders(at: now, send)
        core.deviceBlock = deviceBlock.load(ordering: .relaxed)
        if error == nil {
            do throws(CodecError) {
                try core.sendCaptured(at: now, transmit: send)
            } catch {
                self.error = error
            }
        }
        core.tick(at: now, transmit: send)
        if now.seconds(since: lastPublished) > Self.reportInterval, publish() { lastPublished = now }
    }

    func leave(_ peer: PeerID, at now: HostTime, _ send: MediaSend) {
        for _ in 0..<Self.goodbyeCount { core.leave(peer, at: now, transmit: send) }
        setOpen(false, to: peer)
        _ = publish()
    }

    private func takeOrders(at now: HostTime, _ send: MediaSend) {
        // A thread of lower priority may hold the lock: then the next turn executes the orders.
        let taken: [Order]? = orders.withLockIfAvailable { orders in
            defer { orders = [] }
            return orders
        }
        for order in taken ?? [] {
            switch order {
            case .add(let id, let peer, let waits):
                if !waits || !core.prepare(peer, as: id, at: now) { core.add(peer, as: id, isOpen: open.contains(id)) }
                peers.insert(id)
            case .listen(let id, let listener): core.listen(listener, to: id)
            case .receive(let formats, let id): core.receive(formats, from: id)
            case .expect(let lookahead, let id): core.expect(opusLookahead: lookahead, from: id)
            case .suspend(let id):
                core.suspend(id)
                peers.remove(id)
            case .end(let id):
                for _ in 1..<Self.goodbyeCount { core.leave(id, at: now, transmit: send) }
                core.remove(id, at: now, transmit: send)
                peers.remove(id)
            }
        }
    }

    private func publish() -> Bool {
        let isDone: Bool? = published.withLockIfAvailable { outcome in
            outcome.failure = error
            outcome.statistics.removeAll(keepingCapacity: true)
            for peer in peers { outcome.statistics[peer] = core.statistics(of: peer) }
            return true
        }
        return isDone ?? false
    }
}
