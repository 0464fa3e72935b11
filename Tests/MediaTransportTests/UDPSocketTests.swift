import Glibc
import MediaTransport
import Testing

@Suite struct UDPSocketTests {
    @Test(arguments: [IPAddress.loopback, .loopbackV6])
    func datagramsGoBothWaysOnLoopback(address: IPAddress) throws {
        guard hasAddress(address) else { return }
        var a = try UDPSocket(address: address, port: 0)
        var b = try UDPSocket(address: address, port: 0)
        #expect(a.localAddress.port != 0 && a.localAddress.address == address)
        try a.connect(to: b.localAddress)
        try b.connect(to: a.localAddress)
        #expect(try receive(a) == nil)
        for payload in [[1, 2, 3], [], [UInt8](repeating: 7, count: 1_400)] as [[UInt8]] {
            #expect(try send(a, payload))
            #expect(try receive(b) == payload)
            #expect(try send(b, payload))
            #expect(try receive(a) == payload)
        }
    }

    @Test func onlyThePeersDatagramsComeIn() throws {
        var a = try UDPSocket(address: .loopback, port: 0)
        var b = try UDPSocket(address: .loopback, port: 0)
        var stranger = try UDPSocket(address: .loopback, port: 0)
        try stranger.connect(to: a.localAddress)
        try send(stranger, [1])  // queued before the connection
        try a.connect(to: b.localAddress)
        #expect(throws: UDPSocketError.self) {
            try send(stranger, [2])
            try send(stranger, [3])
        }
        try b.connect(to: a.localAddress)
        try send(b, [4])
        #expect(try receive(a) == [4])
        #expect(try receive(a) == nil)
    }

    @Test func oversizedDatagramsAreDropped() throws {
        var a = try UDPSocket(address: .loopback, port: 0)
        let b = try UDPSocket(address: .loopback, port: 0)
        try a.connect(to: b.localAddress)
        try send(a, [UInt8](repeating: 1, count: 3_000))
        try send(a, [2])
        #expect(try receive(b) == [2])
    }

    @Test func refusalOfThePeersMachineShows() throws {
        var a = try UDPSocket(address: .loopback, port: 0)
        let gone: SocketAddress
        do {
            let b = try UDPSocket(address: .loopback, port: 0)
            gone = b.localAddress
        }
        try a.connect(to: gone)
        try send(a, [1])
        #expect(throws: UDPSocketError.refused(gone)) { try receive(a) }
        #expect(try receive(a) == nil, "the socket stays good")
    }

    @Test func portInUseIsNamed() throws {
        let a = try UDPSocket(address: .loopback, port: 0)
        let port = a.localAddress.port
        let error = #expect(throws: UDPSocketError.self) { _ = try UDPSocket(address: .loopback, port: port) }
        #expect(error == .portInUse(port))
        #expect(error?.description.contains("\(port)") == true)
    }

    @Test func foreignAddressCannotBeBound() throws {
        let address = try #require(IPAddress("192.0.2.1"))
        #expect(throws: UDPSocketError.addressNotAvailable(address)) { _ = try UDPSocket(address: address, port: 0) }
    }

    @Test func sendingWithoutAPeerIsAnError() throws {
        let a = try UDPSocket(address: .loopback, port: 0)
        #expect(throws: UDPSocketError.notConnected) { try send(a, [1]) }
    }

    @Test func packetsAskForExpeditedForwarding() throws {
        let a = try UDPSocket(address: .loopback, port: 0)
        var value: CInt = 0
        var size = socklen_t(4)
        #expect(getsockopt(a.fileDescriptor, CInt(IPPROTO_IP), IP_TOS, &value, &size) == 0)
        #expect(value == 0xB8)
    }

    @discardableResult
    private func send(_ socket: borrowing UDPSocket, _ bytes: [UInt8]) throws(UDPSocketError) -> Bool {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        return try socket.send(UnsafeRawBufferPointer(copy))
    }

    @discardableResult
    private func receive(_ socket: borrowing UDPSocket) throws(UDPSocketError) -> [UInt8]? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_000, alignment: 8)
        defer { buffer.deallocate() }
        return try socket.receive(into: buffer).map { Array(buffer.prefix($0)) }
    }

    private func hasAddress(_ address: IPAddress) -> Bool {
        do { _ = try UDPSocket(address: address, port: 0) } catch { return false }
        return true
    }
}

@Suite struct SocketAddressTests {
    @Test(arguments: ["127.0.0.1", "0.0.0.0", "255.255.255.255", "::1", "::", "2001:db8::1", "::ffff:1.2.3.4"])
    func numericAddressesThereAndBack(text: String) throws {
        #expect(try #require(IPAddress(text)).description == text)
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.256", "::g", "1.2.3.4%1", "::1%", "::1%nosuchinterface", "1.2.3.4\0"])
    func othersAreNone(text: String) { #expect(IPAddress(text) == nil) }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("128.0.0.1", false),
        ("0.0.0.0", false), ("::", false), ("::2", false),
    ])
    func loopbackIsTold(text: String, loopback: Bool) { #expect(IPAddress(text)?.isLoopback == loopback) }

    @Test func namesAndNumbersResolve() throws {
        #expect(try SocketAddress.resolve("127.0.0.1", port: 9) == [SocketAddress(.loopback, port: 9)])
        #expect(try SocketAddress.resolve("localhost", port: 9).allSatisfy { $0.address.isLoopback && $0.port == 9 })
    }

    @Test(arguments: ["no-such-host.invalid", "", "two words"])
    func unknownHostIsNamed(host: String) {
        let error = #expect(throws: ResolutionError.self) { try SocketAddress.resolve(host, port: 1) }
        #expect(error?.host == host)
    }
}
