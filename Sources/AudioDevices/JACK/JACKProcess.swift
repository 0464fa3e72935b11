// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// All JACK clients of this process, which must be on one server.
///
/// libjack keeps one server's graph in global state. A client on a second server would crash the first client's thread. And a
/// client of a server that has ended keeps that server's memory: opening another client first makes libjack close and free all
/// clients without their owners' knowledge (1.9.21, `JackLibGlobals::Init`). So clients of a server that has ended are closed
/// here before another client is opened; their owners find them closed.
enum JACKProcess {
    private struct Clients {
        var server = ""
        var open: [JACKClient] = []
    }
    /// Locked by the ``JACKThread`` only, also while it waits for the server.
    private static let clients = Mutex(Clients())

    /// Opens a client.
    /// - Parameters:
    ///   - server: the server's name; nil for `JACK_DEFAULT_SERVER`'s or the default server.
    ///   - wakeup: is signalled when the server ends.
    /// - Throws: ``AudioDeviceError/noServer(_:server:onPipeWire:)``, ``AudioDeviceError/refused(_:status:)``,
    ///   ``AudioDeviceError/otherServer(open:asked:)``, ``AudioDeviceError/stalled(device:seconds:)``.
    static func open(
        _ name: String, _ server: String?, waking wakeup: Wakeup? = nil
    ) throws(AudioDeviceError) -> JACKClient {
        let asked = server ?? environment("JACK_DEFAULT_SERVER") ?? "default"
        return try JACKThread.call(undo: { if case .success(let client) = $0 { closeNow(client) } }) {
            openNow(name, server, asked, wakeup)
        }.get()
    }

    private static func openNow(
        _ name: String, _ server: String?, _ asked: String, _ wakeup: Wakeup?
    ) -> Result<JACKClient, AudioDeviceError> {
        clients.withLock { clients in
            closeDead(&clients)
            guard clients.open.isEmpty || clients.server == asked else {
                return .failure(.otherServer(open: clients.server, asked: asked))
            }
            do throws(AudioDeviceError) {
                let client = try JACKClient(name, server: server, waking: wakeup)
                clients.server = asked
                clients.open.append(client)
                return .success(client)
            } catch {
                return .failure(error)
            }
        }
    }

    /// Closes a client. When this function returns, no callback of the client runs and none will come. If the server is
    /// suspended, this is true only after the server continues or ends.
    /// - Parameter end: runs after the client was closed, on the ``JACKThread``.
    static func close(_ client: JACKClient, then end: @escaping @Sendable () -> Void = {}) {
        JACKThread.finish {
            closeNow(client)
            end()
        }
    }

    /// Closes a client; call it on the ``JACKThread``. Closing twice does nothing.
    static func closeNow(_ client: JACKClient) {
        clients.withLock { clients in
            client.closeNow()
            clients.open.removeAll { $0 === client }
        }
    }

    /// The names of this process's clients on their server. On the ``JACKThread``.
    static var clientNames: Set<String> { clients.withLock { Set($0.open.map(\.name)) } }

    /// Closes the clients of a server that has ended, and all clients if the server does not answer: some may not have been
    /// notified yet.
    private static func closeDead(_ clients: inout Clients) {
        for client in clients.open where client.end.isOver { client.closeNow() }
        clients.open.removeAll { $0.end.isOver }
        guard let live = clients.open.first, !live.answers else { return }
        for client in clients.open {
            client.closeNow()
            client.end.declare()
        }
        clients.open = []
    }

    /// Returns true if the socket of this session's PipeWire server exists.
    static var isPipeWirePresent: Bool {
        guard let directory = environment("XDG_RUNTIME_DIR") else { return false }
        return access("\(directory)/pipewire-0", F_OK) == 0
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
