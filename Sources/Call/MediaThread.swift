import AudioBase
import AudioCodecs
import AudioDevices
import CRealtime
import MediaTransport
import Synchronization

/// The one media thread of a call: socket, encoding, decoding ahead, timers. It sleeps in `poll` until a datagram comes,
/// the callback has recorded a block, or a timer is due, and runs under SCHED_FIFO just below the device's callback.
final class MediaThread: @unchecked Sendable {  // `core` belongs to the thread; the rest is constant, atomic or locked
    private var core: MediaCore
    private var sendFailures = 0
    private var isRefused = false
    private let socket: UDPSocket
    private let wakeup: Wakeup
    private let running = Atomic<Bool>(false)
    private let deviceBlock: Atomic<Int>
    private let published: Mutex<Outcome>
    private var thread = pthread_t()

    /// The socket's one peer.
    static let peer = PeerID(0)

    struct Outcome {
        var statistics: MediaStatistics
        var error: CodecError?
    }

    init(core: consuming MediaCore, socket: consuming UDPSocket, wakeup: Wakeup) {
        published = Mutex(Outcome(statistics: Self.statistics(of: core)))
        deviceBlock = Atomic(core.deviceBlock)
        self.core = core
        self.socket = socket
        self.wakeup = wakeup
    }

    /// What the thread has counted, and why it ended if it did by itself. Any thread.
    var outcome: Outcome { published.withLock { $0 } }

    func start() throws(AudioDeviceError) {
        running.store(true, ordering: .releasing)
        let code = earshot_start_thread(
            &thread,
            { context in
                if let context { Unmanaged<MediaThread>.fromOpaque(context).takeUnretainedValue().run() }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
        if code != 0 {
            running.store(false, ordering: .releasing)
            throw .noThread(code: Int(code))
        }
    }

    /// Runs from now on just under the device's callback; where that is scheduled normally, so is this.
    func follow(_ device: any AudioDevice) {
        deviceBlock.store(device.blockFrameCount, ordering: .relaxed)
        if let priority = device.realTimePriority {
            _ = earshot_set_thread_fifo(thread, CInt(max(1, priority - 1)))
        } else {
            _ = earshot_set_thread_normal(thread)
        }
    }

    /// Says goodbye to the far side and ends the thread; returns once it has ended.
    func stop() {
        guard running.exchange(false, ordering: .acquiringAndReleasing) else { return }
        earshot_wake(wakeup.fileDescriptor)
        pthread_join(thread, nil)
    }

    private func run() {
        earshot_name_thread("media")
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { buffer.deallocate() }
        let transmit: MediaCore.Transmit = { [self] datagram, _ in
            do throws(UDPSocketError) {
                if try !socket.send(datagram) { sendFailures += 1 }
            } catch {
                sendFailures += 1
                // A refusal shows at whatever call comes next after the far side's machine has said so.
                if case .refused = error { isRefused = true }
            }
        }
        var lastPublished = HostTime(nanoseconds: 0)
        while running.load(ordering: .acquiring) {
            if sleep() { receive(into: buffer) }
            core.deviceBlock = deviceBlock.load(ordering: .relaxed)
            do throws(CodecError) {
                try core.sendCaptured(at: .now(), transmit: transmit)
            } catch {
                published.withLock { $0.error = error }
                break
            }
            let now = HostTime.now()
            core.tick(at: now, transmit: transmit)
            // Never waiting: who reads may be held up at a lower priority with the lock in hand.
            if now.seconds(since: lastPublished) > 0.05, publish() {
                lastPublished = now
            }
        }
        // Three times: a goodbye that is lost looks like a peer that vanished.
        for _ in 0..<3 { core.leave(at: .now(), transmit: transmit) }
        let last = statistics
        published.withLock { $0.statistics = last }
    }

    /// Takes what has come, 64 datagrams a turn at most: a flood must not keep one's own voice from being sent.
    private func receive(into buffer: UnsafeMutableRawBufferPointer) {
        do throws(UDPSocketError) {
            for _ in 0..<64 {
                guard let count = try socket.receive(into: buffer) else { return }
                core.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]), from: Self.peer, at: .now())
                isRefused = false
            }
        } catch { isRefused = true }
    }

    private var statistics: MediaStatistics {
        var statistics = Self.statistics(of: core)
        statistics.sendFailures = sendFailures
        statistics.isRefused = isRefused
        return statistics
    }

    private static func statistics(of core: borrowing MediaCore) -> MediaStatistics {
        core.statistics(of: peer) ?? MediaStatistics(rtp: RTPStatistics())
    }

    private func publish() -> Bool {
        let statistics = statistics
        return published.withLockIfAvailable { $0.statistics = statistics } != nil
    }

    /// Waits for work. The look at the clock comes after the wish to be woken, so that no block is missed.
    /// - Returns: whether something may have come.
    private func sleep() -> Bool {
        wakeup.prepareToSleep()
        if core.hasCaptured {
            wakeup.wokeUp()
            return true
        }
        let due = core.nextDeadline.map { $0.nanoseconds - HostTime.now().nanoseconds } ?? 100_000_000
        let milliseconds = CInt(max(0, min((due + 999_999) / 1_000_000, 100)))
        var descriptors = (
            pollfd(fd: socket.fileDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
        )
        withUnsafeMutablePointer(to: &descriptors) {
            $0.withMemoryRebound(to: pollfd.self, capacity: 2) { _ = poll($0, 2, milliseconds) }
        }
        wakeup.wokeUp(isSignalled: descriptors.1.revents != 0)
        return descriptors.0.revents != 0
    }
}
