// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Ports for servers that must be given one, each used once while this process runs.
///
/// A port from the kernel (port 0) may go to another program as soon as it is closed. These ports are below the range of the
/// kernel's ports (ip(7), `ip_local_port_range`). An abstract Unix socket (unix(7)) with the port's name, held until this process
/// ends, keeps other test processes from using it.
public enum ReservedPort {
    /// No port is left.
    public struct NoneLeft: Error {}

    private static let range = 20_000..<32_000

    /// Returns a port, or the first of `count` consecutive ports, which is then even; free for TCP and UDP.
    public static func next(count: Int = 1) throws -> UInt16 {
        let start = Int.random(in: range) & ~1
        for step in stride(from: 0, to: range.count, by: 2) {
            let first = range.lowerBound + (start - range.lowerBound + step) % range.count
            let ports = (first..<first + count).map { UInt16($0) }
            let locks = ports.map(lock)
            if locks.allSatisfy({ $0 >= 0 }), ports.allSatisfy(isFree) { return ports[0] }
            for lock in locks where lock >= 0 { close(lock) }
        }
        throw NoneLeft()
    }

    /// Returns a socket that only one process can have at a time; -1 if another has it.
    private static func lock(_ port: UInt16) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array("\0earshot-test-port-\(port)".utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count)
        return bound(AF_UNIX, SOCK_DGRAM, &address, length)
    }

    private static func isFree(_ port: UInt16) -> Bool {
        [SOCK_STREAM, SOCK_DGRAM].allSatisfy { type in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            let socket = bound(AF_INET, type, &address, socklen_t(MemoryLayout<sockaddr_in>.size))
            if socket >= 0 { close(socket) }
            return socket >= 0
        }
    }

    private static func bound<Address>(
        _ family: CInt, _ type: __socket_type, _ address: inout Address, _ length: socklen_t
    ) -> CInt {
        let socket = Foundation.socket(family, CInt(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isBound = withUnsafeBytes(of: &address) {
            bind(socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), length) == 0
        }
        if isBound { return socket }
        close(socket)
        return -1
    }
}
