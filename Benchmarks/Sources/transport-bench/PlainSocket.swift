// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Glibc

/// A UDP socket on loopback, as in C.
final class PlainSocket {
    let descriptor: CInt
    let port: UInt16

    /// - Parameter address: an address in 127.0.0.0/8, as a number.
    init(_ address: UInt32 = 0x7F00_0001) {
        descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = Self.name(address, 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var buffer: CInt = 1 << 19
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<CInt>.size))
        let fd = descriptor
        let isBound = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(fd, $0, size) == 0 && getsockname(fd, $0, &size) == 0
            }
        }
        precondition(isBound, "a socket")
        port = UInt16(bigEndian: name.sin_port)
    }

    deinit { close(descriptor) }

    static func name(_ address: UInt32, _ port: UInt16) -> sockaddr_in {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = address.bigEndian
        name.sin_port = port.bigEndian
        return name
    }

    /// - Returns: true if the kernel accepted it.
    @discardableResult
    func send(_ bytes: UnsafeRawBufferPointer, to port: UInt16) -> Bool { Self.send(bytes, to: port, by: descriptor) }

    @discardableResult
    static func send(_ bytes: UnsafeRawBufferPointer, to port: UInt16, by descriptor: CInt) -> Bool {
        var name = name(0x7F00_0001, port)
        return withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes.baseAddress, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        } == bytes.count
    }

    /// - Returns: the size of a received datagram in bytes; nil if none has arrived.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        var name = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let fd = descriptor
        let count = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(fd, buffer.baseAddress, buffer.count, 0, $0, &size)
            }
        }
        return count < 0 ? nil : count
    }

    /// Waits for a datagram.
    func wait(milliseconds: CInt) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, milliseconds)
    }
}
