// SPDX-License-Identifier: Apache-2.0

import BenchReports
import BenchScenes
import Foundation
import Synchronization

@testable import EarshotAudioBase
@testable import EarshotMediaTransport

/// The delay of a PCM packet at the remote peer's media thread, beyond that over a plain UDP socket: 128 frames of mono, 375 per
/// second, requested by another thread like a device's callback. The two ways alternate, half a block apart.
struct AddedDelay {
    let seconds: Double
    private static let interval = 128 / 48_000.0
    private static let size = RTPPacket.headerSize + 256

    func reports() throws -> [Report] {
        let clients = (1...2).map { BenchClient(size: Self.size, interval: nil, ssrc: $0) }
        let pair = try PortPair(clients)
        defer { pair.stop() }
        try wait { clients.allSatisfy { $0.isOpen.load(ordering: .acquiring) } }
        let plain = PlainWay(size: Self.size + SRTPProfile.aeadAES128GCM.overhead)
        plain.start()
        defer { plain.stop() }
        let start = HostTime.now()
        for n in 0..<Int(seconds / Self.interval) {
            sleep(until: start.advanced(bySeconds: Double(n) * Self.interval))
            clients[0].sendOne()
            sleep(until: start.advanced(bySeconds: (Double(n) + 0.5) * Self.interval))
            plain.sendOne()
        }
        usleep(50_000)
        let ours = clients[1].delays.withLock { $0 }.sorted()
        let theirs = plain.delays.withLock { $0 }.sorted()
        guard ours.count > 100, theirs.count > 100 else { throw NoSession() }
        func at(_ part: Double, _ list: [Double]) -> Double { list[Int(part * Double(list.count - 1))] * 1_000 }
        func report(_ name: String, _ part: Double, _ limit: Double, excuse: String? = nil) -> Report {
            let (a, b) = (at(part, ours), at(part, theirs))
            return Report(
                "delay that ports add to a PCM packet, \(name)", a - b, excuse: excuse, "ms", .atMost(limit),
                against:
                    "\(decimal(a, 3)) ms with them, \(decimal(b, 3)) ms over plain sockets, \(ours.count) packets each")
        }
        // The ports are not responsible for one in a hundred that the scheduler delayed on a busy machine.
        return [
            report("median", 0.5, 0.3),
            report("99th percentile", 0.99, 0.3, excuse: at(0.99, theirs) > 0.3 ? "the machine is busy" : nil),
        ]
    }

    private func sleep(until time: HostTime) {
        var deadline = timespec(
            tv_sec: Int(time.nanoseconds / 1_000_000_000), tv_nsec: Int(time.nanoseconds % 1_000_000_000))
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nil)
    }
}

/// Two threads with a socket each: one is woken up and sends, the other receives.
private final class PlainWay: @unchecked Sendable {  // each member one thread's, atomic or locked
    let delays = Mutex<[Double]>([])
    private let wakeup = Wakeup()
    private let wanted = Atomic<Int>(0)
    private let running = Atomic(true)
    private let packet: NumberedPacket
    private let (out, into) = (PlainSocket(), PlainSocket())
    private let ended = DispatchSemaphore(value: 0)

    init(size: Int) { packet = NumberedPacket(size: size) }

    func sendOne() {
        wanted.add(1, ordering: .acquiringAndReleasing)
        wakeup.handle.wake()
    }

    func start() {
        Thread.detachNewThread { [self] in
            while running.load(ordering: .acquiring) { send() }
            ended.signal()
        }
        Thread.detachNewThread { [self] in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 16)
            while running.load(ordering: .acquiring) {
                into.wait(milliseconds: 100)
                while let count = into.receive(into: buffer) {
                    guard let stamp = NumberedPacket.stamp(of: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    else {
                        continue
                    }
                    let delay = HostTime.now().seconds(since: stamp.time)
                    delays.withLock { $0.append(delay) }
                }
            }
            buffer.deallocate()
            ended.signal()
        }
    }

    func stop() {
        running.store(false, ordering: .releasing)
        for _ in 0..<2 { ended.wait() }
    }

    private func send() {
        wakeup.prepareToSleep()
        if wanted.load(ordering: .acquiring) == 0 {
            var entry = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, 100)
            wakeup.wokeUp(isSignalled: entry.revents != 0)
        } else {
            wakeup.wokeUp(isSignalled: false)
        }
        for _ in 0..<wanted.exchange(0, ordering: .acquiringAndReleasing) {
            packet.stamp(0)
            out.send(packet.next(), to: into.port)
        }
    }
}
