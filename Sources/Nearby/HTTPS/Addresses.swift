// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Glibc
import NIOCore

import struct EarshotMediaTransport.SocketAddress

extension SocketAddress {
    /// Converts an address of NIO. An IPv4 address that a socket for both families reports as IPv6 becomes IPv4.
    init?(_ address: NIOCore.SocketAddress?) {
        // Unsafe in this file: an address is read as its family declares, within its length.
        guard let address,
            let found = unsafe Self.filled(by: { pointer, size in
                unsafe address.withSockAddr { source, length in
                    unsafe memcpy(pointer, source, length)
                    size = socklen_t(length)
                    return 0
                }
            })
        else { return nil }
        self = found
        if case .v6(let bits, _) = found.address, bits >> 32 == 0xFFFF {
            self.address = .v4(UInt32(truncatingIfNeeded: bits))
        }
    }

    /// The address in NIO's form.
    var forNIO: NIOCore.SocketAddress {
        unsafe withKernelAddress { pointer, _ in
            unsafe address.isV6
                ? .init(UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in6.self))
                : .init(UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in.self))
        }
    }

    /// The address for a request's Host header, without the scope of a link-local address.
    var hostHeader: String {
        guard case .v6(let bits, _) = address else { return description }
        return Self(.v6(bits, scope: 0), port: port).description
    }
}
