// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc
import Testing

@testable import EarshotMediaTransport

@Suite struct MediaSocketTests {
    @Test func `one socket exchanges datagrams with IPv4 and IPv6 peers and tells them apart`() throws {
        let socket = try MediaSocket(port: 0)
        try #require(socket.localAddress.address.isV6, "this machine has no IPv6")
        for address in [IPAddress.loopback, .loopbackV6] {
            let peer = try MediaSocket(address: address, port: 0)
            let here = SocketAddress(address, port: socket.localAddress.port)
            for payload in [[1, 2, 3], [], [UInt8](repeating: 7, count: 1_400)] as [[UInt8]] {
                #expect(try peer.send(payload, to: here))
                let (datagram, bytes) = try #require(try socket.take())
                #expect(bytes == payload && datagram.size == payload.count && !datagram.isTruncated)
                #expect(datagram.source == peer.localAddress)
                #expect(datagram.local == address && datagram.interface == if_nametoindex("lo"))
                #expect(try socket.send(payload, to: datagram.source, from: datagram.local))
                let answer = try #require(try peer.take())
                #expect(answer.0.source == here && answer.1 == payload)
            }
        }
        #expect(try socket.take() == nil)
    }

    @Test(arguments: [nil, IPAddress.any])
    func `a datagram leaves from the requested address`(bound: IPAddress?) throws {
        let socket = try MediaSocket(address: bound, port: 0)
        let peer = try MediaSocket(address: .loopback, port: 0)
        for text in ["127.0.0.9", "127.0.0.10"] {
            let from = try #require(IPAddress(text))
            #expect(try socket.send([1], to: peer.localAddress, from: from))
            let (datagram, _) = try #require(try peer.take())
            #expect(datagram.source == SocketAddress(from, port: socket.localAddress.port))
            // The answer carries the address to which the datagram was sent.
            #expect(try peer.send([2], to: datagram.source))
            #expect(try #require(try socket.take()).0.local == from)
        }
        #expect(try socket.send([3], to: peer.localAddress, interface: if_nametoindex("lo")))
        #expect(try #require(try peer.take()).1 == [3])
    }

    @Test func `a datagram larger than the buffer is marked as truncated`() throws {
        let a = try MediaSocket(address: .loopback, port: 0)
        let b = try MediaSocket(address: .loopback, port: 0)
        try a.send([UInt8](repeating: 1, count: 3_000), to: b.localAddress)
        try a.send([2], to: b.localAddress)
        let (datagram, bytes) = try #require(try b.take())
        #expect(datagram.isTruncated && datagram.size == 3_000 && bytes == [UInt8](repeating: 1, count: 2_000))
        #expect(try #require(try b.take()).1 == [2])
    }

    @Test func `an IPv4-mapped IPv6 address is treated as IPv4`() throws {
        let socket = try MediaSocket(port: 0)
        let peer = try MediaSocket(address: .loopback, port: 0)
        let mapped = try #require(IPAddress("::ffff:127.0.0.1"))
        #expect(try socket.send([1], to: SocketAddress(mapped, port: peer.localAddress.port), from: mapped))
        #expect(try #require(try peer.take()).0.source.address == .loopback)
    }

    @Test func `a vanished peer does not disturb the socket`() throws {
        let socket = try MediaSocket(port: 0)
        let gone = try MediaSocket(address: .loopback, port: 0).localAddress
        let peer = try MediaSocket(address: .loopback, port: 0)
        for _ in 0..<3 {
            #expect(try socket.send([1], to: gone))
            #expect(try socket.take() == nil)
        }
        #expect(try socket.send([2], to: peer.localAddress))
        #expect(try #require(try peer.take()).1 == [2])
    }

    @Test func `a port in use by either address family is named in the error`() throws {
        let a = try MediaSocket(port: 0)
        let port = a.localAddress.port
        for address in [nil, IPAddress.any, .v6(0, scope: 0)] {
            let error = #expect(throws: UDPSocketError.self) { _ = try MediaSocket(address: address, port: port) }
            #expect(error == .portInUse(port))
        }
        let holder = try MediaSocket(address: .any, port: 0)
        let v4 = holder.localAddress.port
        #expect(throws: UDPSocketError.portInUse(v4)) { _ = try MediaSocket(port: v4) }
        #expect(holder.localAddress.port == v4)
    }

    @Test func `an address that the machine does not have is named in the error`() throws {
        let v4 = try #require(IPAddress("192.0.2.1"))
        let v6 = try #require(IPAddress("2001:db8::1"))
        #expect(throws: UDPSocketError.addressNotAvailable(v4)) { _ = try MediaSocket(address: v4, port: 0) }
        let socket = try MediaSocket(port: 0)
        let peer = try MediaSocket(address: .loopbackV6, port: 0)
        #expect(throws: UDPSocketError.addressNotAvailable(v6)) {
            try socket.send([1], to: peer.localAddress, from: v6)
        }
        // A socket of one family, an address of the other.
        #expect(throws: UDPSocketError.addressNotAvailable(.loopback)) {
            try socket.send([1], to: peer.localAddress, from: .loopback)
        }
        #expect(try socket.send([2], to: peer.localAddress), "the socket stays good")
        #expect(try #require(try peer.take()).1 == [2])
    }

    @Test func `a socket of one address family cannot reach the other`() throws {
        let socket = try MediaSocket(address: .any, port: 0)
        let peer = SocketAddress(.loopbackV6, port: 9)
        #expect(throws: UDPSocketError.unreachable(peer)) { try socket.send([1], to: peer) }
        #expect(throws: UDPSocketError.addressNotAvailable(.loopbackV6)) {
            try socket.send([1], to: SocketAddress(.loopback, port: 9), from: .loopbackV6)
        }
    }

    @Test func `a payload larger than any datagram is rejected`() throws {
        let socket = try MediaSocket(port: 0)
        let bytes = [UInt8](repeating: 0, count: 70_000)
        #expect(throws: UDPSocketError.tooLarge) { try socket.send(bytes, to: SocketAddress(.loopback, port: 9)) }
    }

    @Test(arguments: [nil, IPAddress.loopback])
    func `the kernel reports the arrival of a datagram together with its addresses`(bound: IPAddress?) throws {
        let socket = try MediaSocket(address: bound, port: 0)
        let peer = try MediaSocket(address: .loopback, port: 0)
        let before = WallTime.now()
        try peer.send([1], to: SocketAddress(.loopback, port: socket.localAddress.port))
        let datagram = try #require(try socket.take()).0
        let stamp = try #require(datagram.stamp)
        #expect((before.sinceEpoch...WallTime.now().sinceEpoch).contains(stamp.sinceEpoch))
        #expect(datagram.local == .loopback && datagram.interface == if_nametoindex("lo"))
    }

    @Test func `a wall time becomes a host time by its age, which is clamped`() {
        let wall = WallTime(seconds: 1_800_000_000, nanoseconds: 500_000_000)
        let now = HostTime(nanoseconds: 5_000_000_000)
        for (stamp, expected) in [
            (WallTime(seconds: 1_800_000_000, nanoseconds: 499_000_000), 4_999_000_000),
            (WallTime(seconds: 1_800_000_000, nanoseconds: 500_000_001), 5_000_000_000),
            (WallTime(seconds: 1_799_999_000, nanoseconds: 0), 4_000_000_000),
            (WallTime(seconds: .max, nanoseconds: .max), nil),
        ] as [(WallTime, Int64?)] {
            let time = stamp.hostTime(wall: wall, now: now)
            #expect((4_000_000_000...5_000_000_000).contains(time.nanoseconds))
            if let expected { #expect(time.nanoseconds == expected) }
        }
    }

    @Test func `packets of both address families request expedited forwarding`() throws {
        let socket = try MediaSocket(port: 0)
        for (level, option) in [(CInt(IPPROTO_IP), IP_TOS), (CInt(IPPROTO_IPV6), IPV6_TCLASS)] {
            var value: CInt = 0
            var size = socklen_t(4)
            #expect(getsockopt(socket.fileDescriptor, level, option, &value, &size) == 0)
            #expect(value == 0xB8)
        }
    }
}

extension MediaSocket {
    @discardableResult
    borrowing func send(
        _ bytes: [UInt8], to peer: SocketAddress, from local: IPAddress? = nil, interface: UInt32 = 0
    ) throws(UDPSocketError) -> Bool {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        return try send(UnsafeRawBufferPointer(copy), to: peer, from: local, interface: interface)
    }

    /// Returns the next datagram, up to 2,000 bytes of it.
    borrowing func take() throws(UDPSocketError) -> (ReceivedDatagram, [UInt8])? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_000, alignment: 8)
        defer { buffer.deallocate() }
        guard let datagram = try receive(into: buffer) else { return nil }
        return (datagram, Array(buffer.prefix(datagram.size)))
    }
}
