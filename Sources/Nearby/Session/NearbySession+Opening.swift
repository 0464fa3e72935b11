// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// The ports: opened once, and served until the session is closed.
extension NearbySession {
    /// Serves the ports until ``close(endsRoom:)``. Every session must be closed, since the tasks retain it.
    func serve() {
        tasks = [
            Task { [server] in await server.run { request in try await self.handle(request) } },
            Task { [mediaPort] in for await event in mediaPort.events { handleMediaEvent(event) } },
            Task { [mediaPort] in
                for await message in mediaPort.messages { takeDatagram(message.bytes, from: message.peer) }
            },
        ]
    }

    /// Opens a TCP port and a UDP port with the same number.
    static func open(
        _ configuration: Configuration, _ identity: Identity, _ tls: TLSIdentity
    ) async throws(NearbyError) -> (HTTPSServer, MediaPort) {
        var port = configuration.port
        for attempt in 1... {
            let server: HTTPSServer
            do throws(HTTPSError) {
                server = try await HTTPSServer(address: configuration.address, port: port, identity: tls)
            } catch {
                guard case .portInUse = error, configuration.takesAnyPort, port != 0 else {
                    throw NearbyError(error)
                }
                port = 0
                continue
            }
            do throws(UDPSocketError) {
                let mediaPort = try MediaPort(
                    identity: identity, address: configuration.address, port: server.localAddress.port,
                    client: configuration.media?.client)
                return (server, mediaPort)
            } catch {
                server.stop()
                guard case .portInUse = error, configuration.takesAnyPort || port == 0, attempt < 8 else {
                    throw .media(error)
                }
                port = 0
            }
        }
        preconditionFailure("a loop without an end has ended")
    }
}
