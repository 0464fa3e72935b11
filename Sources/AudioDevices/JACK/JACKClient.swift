import CJACK
import CRealtime
import Synchronization

/// A client of this process until it is closed, by its owner, or by ``JACKProcess`` when the server has ended. Any thread.
final class JACKClient: Sendable {
    /// The name that the server gave it.
    let name: String
    let end: End
    private let address: Mutex<Int>  // 0 once it is closed; a pointer may not leave a lock's closure

    /// Opens a client; does not start a server. Only for ``JACKProcess``, which knows whether libjack may be asked.
    /// - Parameter descriptor: an eventfd that is written when the server ends.
    init(_ name: String, server: String?, waking descriptor: CInt?) throws(AudioDeviceError) {
        earshot_jack_quiet()
        var status = JackStatus(rawValue: 0)
        let client = Self.holdingSIGPIPE { earshot_jack_open(name, server, &status) }
        guard let client else {
            let isAnswered = status.rawValue & JackServerFailed.rawValue == 0 && status.rawValue != 0
            throw isAnswered
                ? .refused(.jack, status: Int(status.rawValue))
                : .noServer(.jack, server: server, onPipeWire: JACKProcess.isPipeWirePresent)
        }
        self.name = String(cString: jack_get_client_name(client))
        end = End(waking: descriptor)
        address = Mutex(Int(bitPattern: client))
        jack_on_info_shutdown(client, jackShutdown, end.memory)
    }

    deinit {
        close()
        end.deallocate()
    }

    /// Runs a call to libjack; nil once the client is closed. The pointer is valid in the body only, but for what
    /// ``close()`` ends: the callbacks.
    func with<R: Sendable>(_ body: (OpaquePointer) -> R) -> R? {
        address.withLock { address in
            guard let client = OpaquePointer(bitPattern: address) else { return nil }
            return Self.holdingSIGPIPE { body(client) }
        }
    }

    /// When it returns none of the client's callbacks runs and none will. Again does nothing.
    func close() {
        address.withLock { address in
            guard let client = OpaquePointer(bitPattern: address) else { return }
            _ = Self.holdingSIGPIPE { jack_client_close(client) }
            address = 0
        }
    }

    private static func holdingSIGPIPE<R>(_ body: () -> R) -> R {
        var before = sigset_t()
        earshot_jack_hold_sigpipe(&before)
        defer { earshot_jack_release_sigpipe(&before) }
        return body()
    }
}

extension JACKClient {
    /// What libjack's notification thread says of the server's end. libjack cancels that thread asynchronously when the
    /// client is closed, so nothing here allocates or locks.
    struct End: @unchecked Sendable {  // `reason` is written once, before `isOver` is set; the rest is atomic or let
        static let reasonCapacity = 128

        struct Memory: ~Copyable {
            let isOver = Atomic<Bool>(false)
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
            isOver ? .serverGone(.jack, reason: String(cString: memory.pointee.reason)) : nil
        }

        /// For a client whose notification did not come; after it is closed.
        func declare() {
            memory.pointee.isOver.store(true, ordering: .releasing)
            if let descriptor = memory.pointee.descriptor { earshot_wake(descriptor) }
        }
    }
}

/// On a notification thread, or the process thread; libjack may not be called from here.
func jackShutdown(_ code: JackStatus, _ reason: UnsafePointer<CChar>?, _ argument: UnsafeMutableRawPointer?) {
    guard let end = argument?.assumingMemoryBound(to: JACKClient.End.Memory.self),
        !end.pointee.isOver.load(ordering: .relaxed)
    else { return }
    if let reason { strncpy(end.pointee.reason, reason, JACKClient.End.reasonCapacity - 1) }
    end.pointee.isOver.store(true, ordering: .releasing)
    if let descriptor = end.pointee.descriptor { earshot_wake(descriptor) }
}
