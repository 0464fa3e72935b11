// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import NIOHTTP1
import TestSupport
import TestTraits
import Testing

@testable import EarshotNearby

/// Our client with servers in Python, correct and faulty ones.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct HTTPSForeignServerTests {
    /// A server on loopback that treats each connection according to `mode`.
    private final class Server: Sendable {
        let address: SocketAddress
        let process: ChildProcess

        init(_ mode: String) async throws {
            let identity = TestIdentity.server
            let process = try ChildProcess(
                [
                    "python3", "-c", Self.script, mode, identity.certificate, identity.key,
                    TestIdentity.client.certificate,
                ])
            _ = await soon { process.output.hasSuffix("\n") }
            self.process = process
            address = SocketAddress(.loopback, port: UInt16(process.output.dropLast()) ?? 0)
        }

        private static let script = """
            import socket, ssl, sys, threading
            from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
            mode, certificate, key, client = sys.argv[1:]
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            context.load_verify_locations(client)
            context.verify_mode = ssl.CERT_OPTIONAL
            class Handler(BaseHTTPRequestHandler):
                protocol_version = 'HTTP/1.1'
                def log_message(self, *arguments): pass
                def do_POST(self):
                    body = self.rfile.read(int(self.headers['Content-Length']))
                    text = b'%s %d ' % (body, self.client_address[1])
                    text += b'named' if self.connection.getpeercert() else b'unnamed'
                    self.send_response(200)
                    self.send_header('Content-Length', str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
            if mode == 'http':
                server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
                server.socket = context.wrap_socket(server.socket, server_side=True)
                print(server.server_address[1], flush=True)
                server.serve_forever()
            answers = {
                'notHTTP': b'220 ready\\r\\n', 'none': b'', 'cut': b'HTTP/1.1 200 OK\\r\\nContent-Length: 100\\r\\n\\r\\nhalf',
                'cutChunks': b'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n4\\r\\nhalf\\r\\n',
                'whole': b'HTTP/1.0 200 OK\\r\\n\\r\\nwhole', 'ragged': b'HTTP/1.0 200 OK\\r\\n\\r\\nwhole',
                'continue': b'HTTP/1.1 100 Continue\\r\\n\\r\\nHTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nwhole'}
            listener = socket.create_server(('127.0.0.1', 0))
            print(listener.getsockname()[1], flush=True)
            def serve(peer):
                if mode == 'silent':
                    print('asked', flush=True)
                    threading.Event().wait()
                if mode == 'plain':
                    peer.sendall(b'HTTP/1.1 400 Bad Request\\r\\n\\r\\n')
                    peer.recv(100000)
                    return peer.close()
                if mode == 'hangUp': return peer.close()
                try:
                    peer = context.wrap_socket(peer, server_side=True)
                    request = b''
                    while b'\\r\\n\\r\\n' not in request: request += peer.recv(100000)
                    peer.sendall(answers[mode])
                    if mode != 'ragged': peer = peer.unwrap()
                except (OSError, ValueError): pass
                peer.close()
            while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
            """
    }

    @Test func `Python's server sees the client's certificate, and the client reuses its connection`() async throws {
        let server = try await Server("http")
        let client = try client(of: [server.address])
        var ports: Set<Substring> = []
        for number in 0..<3 {
            let body = try await client.send(.POST, "/", content: .text("number \(number)")).body
            let words = String(decoding: body, as: UTF8.self).split(separator: " ")
            #expect(words.count == 4 && words[1] == "\(number)" && words[3] == "named")
            ports.insert(words[2])
        }
        #expect(ports.count == 1)
    }

    @Test(arguments: ["whole", "continue"])
    func `a response that ends with its connection or follows a 100 Continue is complete`(mode: String) async throws {
        let server = try await Server(mode)
        let body = try await client(of: [server.address]).send(.GET, "/").body
        #expect(String(decoding: body, as: UTF8.self) == "whole")
    }

    @Test(arguments: ["cut", "cutChunks", "ragged", "none", "hangUp"])
    func `a truncated response is reported as an error`(mode: String) async throws {
        let server = try await Server(mode)
        await #expect(throws: HTTPSError.cut(server.address)) { try await client(of: [server.address]).send(.GET, "/") }
    }

    @Test func `a server that does not speak TLS or HTTP is reported as such`() async throws {
        let plain = try await Server("plain")
        await #expect(throws: HTTPSError.notTLS(plain.address)) {
            try await client(of: [plain.address]).send(.GET, "/")
        }
        let other = try await Server("notHTTP")
        await #expect(throws: HTTPSError.notHTTP(other.address)) {
            try await client(of: [other.address]).send(.GET, "/")
        }
    }

    @Test func `a silent server and a stopped process time out, and a closed port refuses the connection`() async throws
    {
        var timeouts = HTTPSClient.Timeouts()
        timeouts.connect = .milliseconds(300)
        let silent = try await Server("silent")
        await #expect(throws: HTTPSError.timedOut(silent.address)) {
            try await client(of: [silent.address], timeouts: timeouts).send(.GET, "/")
        }
        let stopped = try await Server("http")
        stopped.process.signal(SIGSTOP)
        await #expect(throws: HTTPSError.timedOut(stopped.address)) {
            try await client(of: [stopped.address], timeouts: timeouts).send(.GET, "/")
        }
        // Refusals come from the kernel; however long that takes, they are not timeouts.
        let closed = SocketAddress(.loopback, port: try ReservedPort.next())
        await #expect(throws: HTTPSError.connectionRefused(closed)) {
            try await client(of: [closed]).send(.GET, "/")
        }
        let nowhere = SocketAddress(.v6(0xFE80 << 112 | 1, scope: 0), port: 1)  // a link-local one of no link
        await #expect(throws: HTTPSError.unreachable(nowhere)) {
            try await client(of: [nowhere]).send(.GET, "/")
        }
    }

    @Test func `the first address whose server proves the expected key is used`() async throws {
        var timeouts = HTTPSClient.Timeouts()
        timeouts.nextAddress = .milliseconds(20)
        let silent = try await Server("silent")
        let plain = try await Server("plain")
        try await withServer(.other) { _ in
            HTTPResponse()
        } _: { stranger async throws in
            try await withServer { _ in
                HTTPResponse()
            } _: { server async throws in
                let addresses = [silent.address, stranger.localAddress, plain.address, server.localAddress]
                let head = try await client(of: addresses, timeouts: timeouts).send(.GET, "/").head
                #expect(head.address == server.localAddress)
            }
            // The silent one ends after the request, the others answer before the client's timeout.
            let asked = silent.process.output.count
            timeouts.connect = .seconds(40)
            async let ending = soon { silent.process.output.count > asked }
            let asking = Task { [timeouts] in
                try await client(of: [silent.address, stranger.localAddress, plain.address], timeouts: timeouts)
                    .send(.GET, "/", timeout: .seconds(50)).head.status
            }
            #expect(await ending)
            silent.process.stop()
            await #expect {
                try await asking.value
            } throws: {
                if case HTTPSError.wrongKey(stranger.localAddress, _, _) = $0 { true } else { false }
            }
        }
    }
}
