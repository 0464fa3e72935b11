import AudioBase
import Glibc
import MediaTransport
import Nearby
import Synchronization
import Testing
import TestTraits

@Suite(.serialized, .realTime) struct SignallingTests {
    private static let offer = SessionDescription.offer(
        formats: [.opus(), .pcm(sampleRate: 48_000)], address: .loopback, port: 5_004, packetTime: 2.5, sessionID: 1)

    @Test(arguments: [IPAddress.loopback, .loopbackV6])
    func offerIsAnswered(address: IPAddress) async throws {
        guard let server = try? SignallingServer(address: address, port: 0) else { return }
        let call = Self.call(server.localAddress)
        let incoming = try Self.nextOffer(server)
        #expect(incoming.offer == Self.offer)
        #expect(incoming.peerAddress.address == address && incoming.localAddress == address)
        let answer = try SessionDescription.answer(
            to: incoming.offer, supporting: [.pcm(sampleRate: 48_000)], address: address, port: 6_000, sessionID: 2)
        try incoming.answer(answer)
        #expect(await call.value == .success(answer))
    }

    @Test func refusalComesWithItsReason() async throws {
        let server = try SignallingServer(address: .loopback, port: 0)
        let call = Self.call(server.localAddress)
        let incoming = try Self.nextOffer(server)
        incoming.refuse("busy with another call")
        #expect(await call.value == .failure(.refused(reason: "busy with another call")))
    }

    @Test func droppedOfferHangsUp() async throws {
        let server = try SignallingServer(address: .loopback, port: 0)
        let address = server.localAddress
        let call = Self.call(address)
        do { _ = try server.accept(timeout: 10) }
        #expect(await call.value == .failure(.closed(address)))
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "EARSHOT/1 ANSWER 0\n", "EARSHOT/1 OFFER 5\nhello"])
    func garbageIsRefusedAndTheServerWaitsOn(text: String) async throws {
        let server = try SignallingServer(address: .loopback, port: 0)
        let raw = try RawCaller(server.localAddress)
        raw.send(text)
        #expect(try hearsNothing(server, for: 0.3))
        #expect(server.turnedAwayCount == 1)
        #expect(raw.readAll().hasPrefix("EARSHOT/1 REFUSED "))
        let call = Self.call(server.localAddress)
        let incoming = try Self.nextOffer(server)
        incoming.refuse("done")
        _ = await call.value
    }

    @Test func slowSenderHoldsNobodyUpAndIsRefused() async throws {
        let server = try SignallingServer(address: .loopback, port: 0, messageTimeout: 0.5)
        let slow = try RawCaller(server.localAddress)
        slow.send("EARSHOT/1 OFF")
        let call = Self.call(server.localAddress)
        let incoming = try Self.nextOffer(server)
        incoming.refuse("done")
        #expect(await call.value == .failure(.refused(reason: "done")))
        while server.turnedAwayCount == 0 { #expect(try hearsNothing(server, for: 0.2)) }
        #expect(slow.readAll().contains("REFUSED"))
        if case .timedOut = server.lastTurnedAway {
        } else {
            Issue.record("\(String(describing: server.lastTurnedAway))")
        }
    }

    @Test func callersBeyondTheLimitAreRefused() throws {
        let server = try SignallingServer(address: .loopback, port: 0)
        let callers = try (0...SignallingServer.maximumCallers).map { _ in
            let caller = try RawCaller(server.localAddress)
            #expect(try hearsNothing(server, for: 0))
            return caller
        }
        #expect(callers.last?.readAll().contains("too many callers") == true)
    }

    @Test func acceptCanBeCancelled() throws {
        let server = try SignallingServer(address: .loopback, port: 0)
        var looks = 0
        let incoming = try server.accept(timeout: 60) {
            looks += 1
            return looks > 2
        }
        if incoming != nil { Issue.record("an offer from nobody") }
        #expect(looks > 2)
    }

    @Test func portInUseIsNamed() throws {
        let server = try SignallingServer(address: .loopback, port: 0)
        let port = server.localAddress.port
        let error = #expect(throws: SignallingError.self) { try SignallingServer(address: .loopback, port: port) }
        #expect(error == .portInUse(port))
        #expect(error?.description.contains("--port") == true && error?.description.contains("ss -ltnp") == true)
    }

    @Test func nobodyListensIsNamed() throws {
        let address: SocketAddress
        do { address = try SignallingServer(address: .loopback, port: 0).localAddress }
        let error = #expect(throws: SignallingError.self) {
            try SignallingClient(connectingTo: "127.0.0.1", port: address.port)
        }
        #expect(error == .connectionRefused(address))
        #expect(error?.description.contains("earshot host") == true)
    }

    @Test func unknownHostIsNamed() {
        let error = #expect(throws: SignallingError.self) {
            try SignallingClient(connectingTo: "no-such-host.invalid", port: 1)
        }
        if case .unknownHost(let inner) = error {
            #expect(inner.host == "no-such-host.invalid")
        } else {
            Issue.record()
        }
    }

    @Test func silentHostTimesOut() throws {
        let server = try SignallingServer(address: .loopback, port: 0)  // the kernel connects, nobody accepts
        let client = try SignallingClient(connectingTo: "127.0.0.1", port: server.localAddress.port)
        #expect(throws: SignallingError.timedOut(server.localAddress)) {
            try client.exchange(Self.offer, timeout: 0.2)
        }
        #expect(throws: SignallingError.cancelled) { try client.exchange(Self.offer, timeout: 60) { true } }
    }

    private struct NoOffer: Error {}

    private static func nextOffer(_ server: SignallingServer) throws -> IncomingOffer {
        guard let incoming = try server.accept(timeout: 10) else { throw NoOffer() }
        return incoming
    }

    /// A guest on another thread.
    private static func call(_ address: SocketAddress) -> Task<Result<SessionDescription, SignallingError>, Never> {
        Task.detached {
            do throws(SignallingError) {
                let client = try SignallingClient(connectingTo: "\(address.address)", port: address.port)
                return .success(try client.exchange(offer))
            } catch {
                return .failure(error)
            }
        }
    }
}

private func hearsNothing(_ server: SignallingServer, for timeout: Double) throws -> Bool {
    if try server.accept(timeout: timeout) != nil { false } else { true }
}

/// A TCP caller that is no guest of ours.
private final class RawCaller {
    private let fd: CInt

    init(_ address: SocketAddress) throws {
        fd = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = address.port.bigEndian
        name.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, 16) }
        }
        try #require(status == 0)
    }

    deinit { close(fd) }

    func send(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { Glibc.send(fd, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
    }

    func readAll() -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1_024)
        while true {
            let count = recv(fd, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += buffer.prefix(count)
        }
    }
}
