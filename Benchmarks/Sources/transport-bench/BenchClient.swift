// SPDX-License-Identifier: Apache-2.0

import BenchScenes
import Glibc
import Synchronization

@testable import EarshotAudioBase
@testable import EarshotMediaTransport

/// Media for measurements: packets with their time of sending, at a constant rate or on request.
///
/// The first twelve bytes after RTP's header are the packet's number and its time of sending.
final class BenchClient: MediaClient, @unchecked Sendable {  // the port's thread's, atomic or locked
    let wakeup = Wakeup()
    /// Nil for a thread with normal scheduling.
    let realTimePriority: Int?

    private let packet: NumberedPacket
    private let interval: Double?
    private var next: HostTime?
    private var peer: PeerID?
    private var seen = SeenNumbers()

    private let wanted = Atomic<Int>(0)
    /// Packets sent, packets received for the first time, and nanoseconds of processor time of the port's thread.
    let sent = Atomic<Int>(0)
    let received = Atomic<Int>(0)
    let processorTime = Atomic<Int>(0)
    /// Seconds from sending to receiving for each received packet.
    let delays = Mutex<[Double]>([])
    let isOpen = Atomic(false)

    /// - Parameters:
    ///   - size: the bytes of a packet, including RTP's header.
    ///   - interval: seconds between packets; nil for packets that ``sendOne()`` requests.
    init(size: Int, interval: Double?, ssrc: UInt32, realTimePriority: Int? = nil) {
        self.realTimePriority = realTimePriority
        packet = NumberedPacket(size: size, ssrc: ssrc)
        self.interval = interval
        delays.withLock { $0.reserveCapacity(1 << 16) }
    }

    /// Requests a packet, as a render callback does.
    func sendOne() {
        wanted.add(1, ordering: .acquiringAndReleasing)
        wakeup.handle.wake()
    }

    // MARK: The port's thread

    var hasMedia: Bool { wanted.load(ordering: .acquiring) > 0 }
    var nextDeadline: HostTime? { next }

    func setOpen(_ isOpen: Bool, to peer: PeerID) {
        self.peer = isOpen ? peer : nil
        if isOpen, interval != nil, next == nil { next = .now() }
        self.isOpen.store(isOpen, ordering: .releasing)
    }

    func sendMedia(at now: HostTime, _ send: MediaSend) {
        var due = wanted.exchange(0, ordering: .acquiringAndReleasing)
        while let at = next, let interval, at <= now {
            due += 1
            next = at.advanced(bySeconds: interval)
        }
        guard let peer else { return }
        for _ in 0..<due {
            packet.stamp(UInt32(sent.load(ordering: .relaxed)))
            send(packet.next(), peer)
            sent.add(1, ordering: .relaxed)
        }
    }

    func receive(_ bytes: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime) {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        processorTime.store(time.tv_sec * 1_000_000_000 + time.tv_nsec, ordering: .relaxed)
        guard let stamp = NumberedPacket.stamp(of: bytes), seen.insert(stamp.number) else { return }
        received.add(1, ordering: .relaxed)
        let delay = HostTime.now().seconds(since: stamp.time)
        delays.withLock { $0.append(delay) }
    }

    func leave(_ peer: PeerID, at now: HostTime, _ send: MediaSend) {}
}

/// The received packet numbers, in memory allocated at the start, so that measuring itself does not allocate.
struct SeenNumbers {
    private var flags = [Bool](repeating: false, count: 1 << 18)

    /// - Returns: true for a new number.
    mutating func insert(_ number: UInt32) -> Bool {
        guard Int(number) < flags.count, !flags[Int(number)] else { return false }
        flags[Int(number)] = true
        return true
    }
}

extension NumberedPacket {
    private static let place = RTPPacket.headerSize

    /// Writes the packet's number and the current time.
    func stamp(_ number: UInt32) {
        bytes.storeBytes(of: number, toByteOffset: Self.place, as: UInt32.self)
        bytes.storeBytes(of: HostTime.now().nanoseconds, toByteOffset: Self.place + 4, as: Int64.self)
    }

    static func stamp(of bytes: UnsafeRawBufferPointer) -> (number: UInt32, time: HostTime)? {
        guard bytes.count >= place + 12 else { return nil }
        return (
            bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self),
            HostTime(nanoseconds: bytes.loadUnaligned(fromByteOffset: place + 4, as: Int64.self))
        )
    }
}

/// Two ports on loopback with a session between them.
struct PortPair {
    static let peer = PeerID(1)
    let ports: [MediaPort]

    init(_ clients: [any MediaClient]) throws {
        let identities = try clients.map { _ in try Identity.generate(at: Self.date) }
        ports = try zip(identities, clients).map {
            try MediaPort(identity: $0, address: .loopback, port: 0, client: $1)
        }
        var generator = SystemRandomNumberGenerator()
        let credentials = clients.map { _ in ICECredentials.random(using: &generator) }
        for port in ports { guard port.start() else { throw NoSession() } }
        for (end, role) in [(0, ICERole.controlling), (1, .controlled)] {
            ports[end].add(Self.peer, LocalTransportParameters(role: role, credentials: credentials[end]))
            ports[end].setRemote(
                RemoteTransportParameters(
                    credentials: credentials[1 - end],
                    candidates: ICECandidate.hosts(
                        [.loopback], port: ports[1 - end].localAddress.port),
                    certificate: identities[1 - end].certificateFingerprint, dtlsRole: end == 0 ? .client : .server),
                of: Self.peer)
        }
    }

    func stop() { for port in ports { port.stop() } }

    /// The date of the certificates, which does not matter here.
    static let date: Int64 = 1_800_000_000
}

/// Two ports did not connect within seconds.
struct NoSession: Error, CustomStringConvertible {
    let description = "two ports on loopback did not come to a session"
}

/// Waits until a condition is true, ten seconds at most.
func wait(until holds: () -> Bool) throws {
    for _ in 0..<2_000 {
        if holds() { return }
        usleep(5_000)
    }
    throw NoSession()
}
