import CJACK
import CRealtime
import Synchronization

/// This process's clients.
///
/// libjack keeps one server's graph in global state. A client on a second server would crash the first one's thread. And a
/// client of a server that has ended keeps that server's memory: opening another one first makes libjack close and free
/// all clients behind their owners' backs (1.9.21, `JackLibGlobals::Init`). So clients of a server that has ended are
/// closed here, each leaving an owner that finds it closed, before another is opened.
enum JACKProcess {
    private struct Clients {
        var server = ""
        var open: [JACKClient] = []
    }
    private static let clients = Mutex(Clients())

    /// - Parameters:
    ///   - server: nil for `JACK_DEFAULT_SERVER`'s or the default server.
    ///   - descriptor: an eventfd that is written when the server ends.
    /// - Throws: ``AudioDeviceError/noServer(_:server:onPipeWire:)``, ``AudioDeviceError/refused(_:status:)``,
    ///   ``AudioDeviceError/otherServer(open:asked:)``.
    static func open(
        _ name: String, _ server: String?, waking descriptor: CInt? = nil
    ) throws(AudioDeviceError) -> JACKClient {
        let asked = server ?? environment("JACK_DEFAULT_SERVER") ?? "default"
        return try clients.withLock { clients -> Result<JACKClient, AudioDeviceError> in
            closeDead(&clients)
            guard clients.open.isEmpty || clients.server == asked else {
                return .failure(.otherServer(open: clients.server, asked: asked))
            }
            do throws(AudioDeviceError) {
                let client = try JACKClient(name, server: server, waking: descriptor)
                clients.server = asked
                clients.open.append(client)
                return .success(client)
            } catch {
                return .failure(error)
            }
        }.get()
    }

    static func close(_ client: JACKClient) {
        clients.withLock { clients in
            client.close()
            clients.open.removeAll { $0 === client }
        }
    }

    /// The names of this process's clients on their server.
    static var clientNames: Set<String> { clients.withLock { Set($0.open.map(\.name)) } }

    /// Closes all clients where the server has ended, though only some may have heard of it yet.
    private static func closeDead(_ clients: inout Clients) {
        guard let one = clients.open.first else { return }
        let isOver = clients.open.contains { $0.end.isOver } || one.with { earshot_jack_answers($0) } != 1
        guard isOver else { return }
        for client in clients.open {
            client.close()
            client.end.declare()
        }
        clients.open = []
    }

    /// Whether this session has a PipeWire server: its socket exists.
    static var isPipeWirePresent: Bool {
        guard let directory = environment("XDG_RUNTIME_DIR") else { return false }
        return access("\(directory)/pipewire-0", F_OK) == 0
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
