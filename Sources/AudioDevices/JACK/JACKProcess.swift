import CJACK
import CRealtime
import Synchronization

/// This process's clients. libjack keeps one server's graph in global state, and a client on a second server would crash
/// the first one's thread; so they are counted.
enum JACKProcess {
    private struct Clients {
        var server = ""
        var count = 0
    }

    private static let clients = Mutex(Clients())

    /// - Parameter server: nil for `JACK_DEFAULT_SERVER`'s or the default server.
    static func open(_ name: String, _ server: String?) throws(AudioDeviceError) -> OpaquePointer {
        let asked = server ?? environment("JACK_DEFAULT_SERVER") ?? "default"
        let opened = clients.withLock { clients -> Result<Int, AudioDeviceError> in
            guard clients.count == 0 || clients.server == asked else {
                return .failure(.otherServer(open: clients.server, asked: asked))
            }
            earshot_jack_quiet()
            var status = JackStatus(rawValue: 0)
            guard let client = earshot_jack_open(name, server, &status) else {
                let isAnswered = status.rawValue & JackServerFailed.rawValue == 0
                return .failure(
                    isAnswered
                        ? .refused(.jack, status: Int(status.rawValue))
                        : .noServer(.jack, server: server, onPipeWire: isPipeWirePresent))
            }
            clients.server = asked
            clients.count += 1
            return .success(Int(bitPattern: client))  // an address: a pointer may not leave the lock's closure
        }
        guard let client = OpaquePointer(bitPattern: try opened.get()) else { throw .refused(.jack, status: 0) }
        return client
    }

    static func close(_ client: OpaquePointer) {
        let address = Int(bitPattern: client)
        clients.withLock { clients in
            if let client = OpaquePointer(bitPattern: address) { jack_client_close(client) }
            clients.count -= 1
        }
    }

    /// Whether this session has a PipeWire server: its socket exists.
    static var isPipeWirePresent: Bool {
        guard let directory = environment("XDG_RUNTIME_DIR") else { return false }
        return access("\(directory)/pipewire-0", F_OK) == 0
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
