// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// A client of this process until it is closed by its owner, or by ``JACKProcess`` after the server has ended. Any thread, unless
/// documented otherwise.
final class JACKClient: Sendable {
    /// The client's actual name on its server.
    let name: String
    let end: End
    private let wakeup: Wakeup?  // kept, as libjack may write to it until the client is closed
    private let address: Atomic<Int>  // libjack's client, for the JACKThread; 0 once the client is closed

    /// Opens a client; never starts a server. Only for ``JACKProcess``, which knows whether libjack may be called, and retains
    /// the client until it is closed. On the ``JACKThread``.
    /// - Parameter wakeup: is signalled when the server ends.
    init(_ name: String, server: String?, waking wakeup: Wakeup?) throws(AudioDeviceError) {
        earshot_jack_quiet()
        var status = JackStatus(rawValue: 0)
        guard let client = earshot_jack_open(name, server, &status) else {
            let isAnswered = status.rawValue & JackServerFailed.rawValue == 0 && status.rawValue != 0
            throw isAnswered
                ? .refused(.jack, status: Int(status.rawValue))
                : .noServer(.jack, server: server, onPipeWire: JACKProcess.isPipeWirePresent)
        }
        self.name = String(cString: jack_get_client_name(client))
        self.wakeup = wakeup
        end = End(waking: wakeup?.fileDescriptor)
        address = Atomic(Int(bitPattern: client))
        jack_on_info_shutdown(client, jackShutdown, end.memory)
    }

    deinit { end.deallocate() }

    /// Runs a call of libjack and returns its result; nil if the client is closed. The pointer to the client is valid only in
    /// `body`, and in callbacks until the client is closed. A client whose call times out is abandoned, and closed when possible.
    /// - Parameter undo: undoes a result that came too late, on the ``JACKThread``, after the client was closed.
    /// - Throws: ``AudioDeviceError/stalled(device:seconds:)``, ``AudioDeviceError/noThread(code:)``.
    func with<R: Sendable>(
        undo: @escaping @Sendable (R) -> Void = { _ in }, _ body: @escaping @Sendable (OpaquePointer) -> R
    ) throws(AudioDeviceError) -> R? {
        do throws(AudioDeviceError) {
            return try JACKThread.call(undo: { [self] (late: R?) in
                JACKProcess.closeNow(self)
                if let late { undo(late) }
            }) { [self] in withNow(body) }
        } catch {
            end.abandon()
            JACKThread.finish(waits: false) { [self] in JACKProcess.closeNow(self) }
            throw error
        }
    }

    private func withNow<R>(_ body: (OpaquePointer) -> R) -> R? {
        OpaquePointer(bitPattern: address.load(ordering: .relaxed)).map(body)
    }

    /// True if the client's server answers. On the ``JACKThread``.
    var answers: Bool { withNow { earshot_jack_answers($0) } == 1 }

    /// Closes the client. When this method returns, no callback of the client runs and none will come. Closing twice does
    /// nothing. On the ``JACKThread``.
    func closeNow() {
        _ = withNow { jack_client_close($0) }
        address.store(0, ordering: .relaxed)
    }
}

extension JACKClient {
    /// The end of a client's server, as libjack's notification thread notes it. libjack cancels that thread asynchronously when
    /// the client is closed, so noting the end neither allocates nor locks.
    struct End: @unchecked Sendable {  // `reason` is written once, before `isOver` is set; the rest is atomic or let
        static let reasonCapacity = 128

        struct Memory: ~Copyable {
            let isOver = Atomic<Bool>(false)
            let isAbandoned = Atomic<Bool>(false)
            let reason = UnsafeMutablePointer<CChar>.allocate(capacity: reasonCapacity)
            let descriptor: CInt?
        }
        let memory = UnsafeMutablePointer<Memory>.allocate(capacity: 1)

        init(waking descriptor: CInt?) {
            memory.initialize(to: Memory(descriptor: descriptor))
            memory.pointee.reason.initialize(repeating: 0, count: Self.reasonCapacity)
        }

        func deallocate() {
            memory.pointee.reason.deallocate()
            memory.deinitialize(count: 1)
            memory.deallocate()
        }

        var isOver: Bool { memory.pointee.isOver.load(ordering: .acquiring) }
        var error: AudioDeviceError? {
            if isOver { return .serverGone(.jack, reason: String(cString: memory.pointee.reason)) }
            return memory.pointee.isAbandoned.load(ordering: .acquiring) ? JACKThread.overdue : nil
        }

        /// Marks a client whose server did not answer in time.
        func abandon() { memory.pointee.isAbandoned.store(true, ordering: .releasing) }

        /// Marks a closed client that got no notification of its server's end.
        func declare() {
            memory.pointee.isOver.store(true, ordering: .releasing)
            if let descriptor = memory.pointee.descriptor { earshot_wake(descriptor) }
        }
    }
}

/// Stores that the server has ended or has thrown the client out. libjack calls this function on a notification thread or the
/// process thread; the function must not call libjack.
func jackShutdown(_ code: JackStatus, _ reason: UnsafePointer<CChar>?, _ argument: UnsafeMutableRawPointer?) {
    guard let end = argument?.assumingMemoryBound(to: JACKClient.End.Memory.self),
        !end.pointee.isOver.load(ordering: .relaxed)
    else { return }
    if let reason { strncpy(end.pointee.reason, reason, JACKClient.End.reasonCapacity - 1) }
    end.pointee.isOver.store(true, ordering: .releasing)
    if let descriptor = end.pointee.descriptor { earshot_wake(descriptor) }
}
