import AudioBase
import AudioCodecs
import AudioDevices
import MediaTransport
import Synchronization

/// A call's media on a ``MediaPort``'s thread: what is captured goes to every far side, what they send to their playouts.
///
/// Far sides are added on the control thread and leave with the port's.
// `core`, `peers`, `open` and `failure` are the thread's; the rest is constant, atomic or locked.
final class CallMedia: MediaClient, @unchecked Sendable {
    private var core: MediaCore
    let wakeup: Wakeup
    private let deviceBlock: Atomic<Int>
    private let priority = Atomic<Int>(0)  // 0 for none
    private let arrivals = Mutex<[Arrival]>([])
    private let published: Mutex<Outcome>
    private var peers: [PeerID] = []
    private var open: Set<PeerID> = []
    private var failure: CodecError?
    private var lastPublished = HostTime(nanoseconds: 0)
    private static let reportInterval = 0.05

    private struct Arrival: @unchecked Sendable {  // handed over to the thread, not shared with it
        let id: PeerID
        let peer: MediaPeer
    }

    /// What the control thread may look at.
    struct Outcome {
        var statistics: [PeerID: MediaStatistics] = [:]
        /// Why nothing is sent any more.
        var failure: CodecError?
    }

    init(core: consuming MediaCore, wakeup: Wakeup) {
        self.wakeup = wakeup
        deviceBlock = Atomic(core.deviceBlock)
        published = Mutex(Outcome())
        self.core = core
    }

    /// What was counted a twentieth of a second ago or less. Any thread.
    var outcome: Outcome { published.withLock { $0 } }

    /// From the thread's next turn on this far side takes part. Any thread.
    func add(_ peer: MediaPeer, as id: PeerID) {
        let arrival = Arrival(id: id, peer: peer)
        arrivals.withLock { $0.append(arrival) }
    }

    /// Runs from now on just under the device's callback; where that is scheduled normally, so is this. Any thread.
    func follow(_ device: any AudioDevice) {
        deviceBlock.store(device.blockFrameCount, ordering: .relaxed)
        priority.store(device.realTimePriority.map { max(1, $0 - 1) } ?? 0, ordering: .relaxed)
    }

    // MARK: The port's thread

    var realTimePriority: Int? {
        let value = priority.load(ordering: .relaxed)
        return value > 0 ? value : nil
    }
    var hasMedia: Bool { core.hasCaptured }
    var nextDeadline: HostTime? { core.nextDeadline }

    func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime) {
        core.receive(packet, from: peer, at: now)
    }

    func setOpen(_ isOpen: Bool, to peer: PeerID) {
        if isOpen { open.insert(peer) } else { open.remove(peer) }
        core.setOpen(isOpen, to: peer)
    }

    func sendMedia(at now: HostTime, _ send: MediaSend) {
        takeArrivals()
        core.deviceBlock = deviceBlock.load(ordering: .relaxed)
        if failure == nil {
            do throws(CodecError) {
                try core.sendCaptured(at: now, transmit: send)
            } catch {
                failure = error
            }
        }
        core.tick(at: now, transmit: send)
        if now.seconds(since: lastPublished) > Self.reportInterval, publish() { lastPublished = now }
    }

    /// Three times: a goodbye that is lost looks like a far side that vanished.
    func leave(_ peer: PeerID, at now: HostTime, _ send: MediaSend) {
        takeArrivals()
        for _ in 0..<2 { core.leave(peer, at: now, transmit: send) }
        core.remove(peer, at: now, transmit: send)
        peers.removeAll { $0 == peer }
        open.remove(peer)
    }

    private func takeArrivals() {
        // Who adds may be held up at a lower priority with the lock in hand: then the next turn takes them.
        let taken: [Arrival]? = arrivals.withLockIfAvailable { arrivals in
            defer { arrivals = [] }
            return arrivals
        }
        for arrival in taken ?? [] {
            core.add(arrival.peer, as: arrival.id, isOpen: open.contains(arrival.id))
            peers.append(arrival.id)
        }
    }

    private func publish() -> Bool {
        let isDone: Bool? = published.withLockIfAvailable { outcome in
            outcome.failure = failure
            outcome.statistics.removeAll(keepingCapacity: true)
            for peer in peers { outcome.statistics[peer] = core.statistics(of: peer) }
            return true
        }
        return isDone ?? false
    }
}
