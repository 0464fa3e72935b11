// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The interface and local address of a datagram: `IPV6_PKTINFO` (RFC 3542 §6), on an IPv4 socket `IP_PKTINFO`, as a control
/// message of `recvmsg` and `sendmsg`.
struct PacketInfo {
    var local: IPAddress
    /// The number of the interface; 0 lets the kernel choose.
    var interface: UInt32

    /// Memory for the control messages of a datagram: the packet information and the time of arrival.
    typealias Storage = InlineArray<16, UInt64>

    private static let headerSize = ControlMessages.headerSize
    private static let alignment = ControlMessages.alignment

    /// Reads a control message from the kernel; nil if the message is no packet information.
    init?(level: CInt, type: CInt, _ data: RawSpan) {
        if level == CInt(IPPROTO_IPV6), type == IPV6_PKTINFO, data.byteCount >= 20 {
            interface = data.native32(16)
            local = IPAddress.v6(data.bigEndian128(0), scope: 0).unmapped.scoped(to: interface)
        } else if level == CInt(IPPROTO_IP), type == IP_PKTINFO, data.byteCount >= 12 {
            interface = data.native32(0)
            local = .v4(data.bigEndian32(8))
        } else {
            return nil
        }
    }

    /// Selects the local address and interface for sending; nil and 0 let the kernel choose.
    init(local: IPAddress?, interface: UInt32) {
        self.local = local ?? .any
        self.interface = interface
        if interface == 0, case .v6(_, let scope)? = local { self.interface = scope }
    }

    /// Writes the address for an IPv6 or dual-stack socket; an IPv4 address is mapped.
    /// - Parameter isTowardsV6: true if the destination is an IPv6 address; an unspecified local address gets the same family.
    /// - Returns: the size of the control message in bytes.
    func writeV6(into control: inout MutableRawSpan, isTowardsV6: Bool) -> Int {
        let isUnspecified = local.isUnspecified && isTowardsV6
        guard case .v6(let bits, _) = isUnspecified ? .v6(0, scope: 0) : local.mapped else { return 0 }
        control.storeBytes(of: bits.bigEndian, toByteOffset: Self.headerSize, as: UInt128.self)
        control.storeBytes(of: interface, toByteOffset: Self.headerSize + 16, as: UInt32.self)
        return writeHeader(into: &control, CInt(IPPROTO_IPV6), IPV6_PKTINFO, size: 20)
    }

    /// Writes the address for an IPv4 socket.
    /// - Returns: the size of the control message in bytes; 0 if the address is IPv6, which the socket cannot use.
    func writeV4(into control: inout MutableRawSpan) -> Int {
        guard case .v4(let bits) = local.unmapped else { return 0 }
        control.storeBytes(of: interface, toByteOffset: Self.headerSize, as: UInt32.self)
        control.storeBytes(of: bits.bigEndian, toByteOffset: Self.headerSize + 4, as: UInt32.self)
        control.storeBytes(of: 0, toByteOffset: Self.headerSize + 8, as: UInt32.self)
        return writeHeader(into: &control, CInt(IPPROTO_IP), IP_PKTINFO, size: 12)
    }

    private func writeHeader(
        into control: inout MutableRawSpan, _ level: CInt, _ type: CInt, size: Int
    ) -> Int {
        control.storeBytes(of: Self.headerSize + size, toByteOffset: 0, as: Int.self)
        control.storeBytes(of: level, toByteOffset: Self.alignment, as: CInt.self)
        control.storeBytes(of: type, toByteOffset: Self.alignment + 4, as: CInt.self)
        return Self.headerSize + size
    }
}
