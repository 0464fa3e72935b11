// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// `openssl s_server` and `s_client` as the peer, over UDP on the loopback interface: another program, the real clock.
@Suite struct OpenSSLPeerTests {
    private let tool: OpenSSLTool
    private let ours: Identity
    private let theirs: Identity
    private let files: String

    init() throws {
        tool = try OpenSSLTool()
        ours = try Peers.anna.get()
        theirs = try Peers.bert.get()
        let certificate = try tool.file("peer.pem", theirs.certificatePEM.utf8)
        let key = try tool.file("peer-key.pem", theirs.privateKeyPEM.utf8)
        files = "-cert \(certificate) -key \(key)"
    }

    /// A socket connected to a port of this machine, and a session on it.
    private final class Line {
        let end: DTLSEnd
        let socket: MediaSocket
        let peer: SocketAddress
        private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 16)

        init(_ end: DTLSEnd, port: UInt16 = 0, peer: UInt16) throws {
            self.end = end
            socket = try MediaSocket(address: .loopback, port: port)
            self.peer = SocketAddress(.loopback, port: peer)
        }

        deinit { buffer.deallocate() }

        /// Runs for this many seconds, or until done.
        func run(seconds: Double, until isDone: (DTLSEnd) -> Bool) {
            let limit = HostTime.now().advanced(bySeconds: seconds)
            while HostTime.now() < limit, !isDone(end) {
                var entry = pollfd(fd: socket.fileDescriptor, events: Int16(POLLIN), revents: 0)
                poll(&entry, 1, 5)
                while let datagram = (try? socket.receive(into: buffer)) ?? nil {
                    end.take(Array(buffer[..<datagram.size]), at: .now())
                }
                end.tick(at: .now())
                flush()
            }
        }

        func flush() {
            for datagram in end.takeSent() { _ = datagram.withUnsafeBytes { try? socket.send($0, to: peer) } }
        }
    }

    private static let exporter = "-keymatexport EXTRACTOR-dtls_srtp -keymatexportlen"

    /// Returns the key material that the program reports.
    private func material(_ output: String) -> [UInt8] {
        guard let line = output.split(separator: "\n").first(where: { $0.contains("Keying material: ") }) else {
            return []
        }
        return bytes(String(line.split(separator: ":").last ?? ""))
    }

    /// Returns both sides' keys in the exporter's order: keys, then salts.
    private func exported(_ end: DTLSEnd) -> [UInt8] {
        let keys = end.keys
        return keys.flatMap { $0.prefix(16) } + keys.flatMap { $0.dropFirst(16) }
    }

    private func client(_ arguments: String, bind port: UInt16, to server: UInt16) throws -> ChildProcess {
        try ChildProcess([
            "sh", "-c",
            "(echo hello from openssl; sleep 15) | openssl s_client -dtls1_2 -connect 127.0.0.1:\(server) "
                + "-bind 127.0.0.1:\(port) -ign_eof -mtu 1200 \(arguments)",
        ])
    }

    private func server(_ arguments: String, port: UInt16) throws -> ChildProcess {
        try ChildProcess([
            "sh", "-c",
            // It prints the keys only if the handshake precedes the data to send.
            "(sleep 1; echo hello from openssl; sleep 15) | openssl s_server -dtls1_2 -accept 127.0.0.1:\(port) -Verify 1 "
                + "-mtu 1200 \(arguments)",
        ])
    }

    @Test(arguments: [SRTPProfile.aeadAES128GCM, .aes128CMSHA180])
    func `a server session interoperates with openssl s_client`(profile: SRTPProfile) throws {
        let (here, there) = (try ReservedPort.next(), try ReservedPort.next())
        let end = try DTLSEnd(.server, ours, peer: theirs.certificateFingerprint, allowsCounterMode: true)
        let line = try Line(end, port: here, peer: there)
        let size = 2 * (16 + profile.saltSize)
        let program = try client(
            "\(files) -use_srtp \(profile.name) \(Self.exporter) \(size)", bind: there, to: here)
        line.run(seconds: 10) { $0.messages.count == 1 }
        try #require(end.profile == profile, "\(end.session.state) \(program.output) \(program.errors)")
        #expect(end.messages == [Array("hello from openssl\n".utf8)])
        #expect(end.session.peerKey == theirs.publicKey)
        try end.send(Array("hello from earshot\n".utf8))
        line.flush()
        #expect(eventually { program.output.contains("hello from earshot") })
        #expect(exported(end) == material(program.output) && exported(end).count == size)
        end.close()
        line.flush()
        #expect(eventually { program.output.contains("closed") || program.errors.contains("closed") })
    }

    @Test func `a client session interoperates with openssl s_server`() throws {
        let there = try ReservedPort.next()
        let program = try server("\(files) -use_srtp SRTP_AEAD_AES_128_GCM \(Self.exporter) 56", port: there)
        let end = try DTLSEnd(.client, ours, peer: theirs.certificateFingerprint)
        let line = try Line(end, peer: there)
        #expect(eventually { program.output.contains("ACCEPT") })
        end.start(at: .now())
        line.flush()
        line.run(seconds: 10) { $0.messages.count == 1 }
        try #require(end.profile == .aeadAES128GCM, "\(end.session.state) \(program.output) \(program.errors)")
        #expect(end.messages == [Array("hello from openssl\n".utf8)])
        #expect(end.session.peerKey == theirs.publicKey)
        try end.send(Array("hello from earshot\n".utf8))
        line.flush()
        #expect(eventually { program.output.contains("hello from earshot") })
        #expect(exported(end) == material(program.output) && exported(end).count == 56)
    }

    /// Returns the state of our server after a connection from this client.
    private func refusal(_ arguments: String) throws -> DTLSSession.State {
        let (here, there) = (try ReservedPort.next(), try ReservedPort.next())
        let end = try DTLSEnd(.server, ours, peer: theirs.certificateFingerprint)
        let line = try Line(end, port: here, peer: there)
        let program = try client(arguments, bind: there, to: here)
        defer { program.stop() }
        line.run(seconds: 10) { $0.session.state != .handshaking && $0.session.state != .new }
        return end.session.state
    }

    @Test func `unsuitable clients are rejected, each with its own error`() throws {
        let gcm = "-use_srtp SRTP_AEAD_AES_128_GCM"
        #expect(try refusal(gcm) == .failed(.noCertificate))
        #expect(try refusal("\(files) -use_srtp SRTP_AES128_CM_SHA1_80") == .failed(.noProtectionProfile))
        #expect(try refusal(files) == .failed(.noProtectionProfile))
        #expect(
            try refusal("\(files) \(gcm) -cipher ECDHE-ECDSA-AES128-SHA256")
                == .failed(.protocolViolation("no shared cipher")))
        let other = try Identity.generate(at: today)
        let certificate = try tool.file("other.pem", other.certificatePEM.utf8)
        let key = try tool.file("other-key.pem", other.privateKeyPEM.utf8)
        #expect(
            try refusal("-cert \(certificate) -key \(key) \(gcm)")
                == .failed(
                    .certificateMismatch(
                        expected: theirs.certificateFingerprint, received: other.certificateFingerprint)))
    }

    @Test func `a server with an RSA certificate fails with a handshake failure`() throws {
        let key = try tool.file("rsa.pem", tool.made("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out OUT"))
        let certificate = try tool.file(
            "rsa-certificate.pem", tool.made("req -x509 -key \(key) -subj /CN=x -days 2 -out OUT"))
        let there = try ReservedPort.next()
        let program = try server("-cert \(certificate) -key \(key) -use_srtp SRTP_AEAD_AES_128_GCM", port: there)
        let end = try DTLSEnd(.client, ours, peer: theirs.certificateFingerprint)
        let line = try Line(end, peer: there)
        #expect(eventually { program.output.contains("ACCEPT") })
        end.start(at: .now())
        line.flush()
        line.run(seconds: 11) { $0.session.state != .handshaking }
        #expect(end.session.state == .failed(.timedOut(DTLSAlert(rawValue: 40))))  // handshake_failure
    }
}
