// SPDX-License-Identifier: Apache-2.0

/// A message of rtnetlink (rtnetlink(7)) about links and addresses. The kernel writes it in the machine's byte order; its lengths
/// are checked all the same.
enum NetlinkMessage: Hashable {
    case link(NetworkLink)
    case linkGone(index: UInt32)
    case address(LinkAddress)
    case addressGone(LinkAddress)
    /// The end of an answer of several messages, such as a list.
    case done
    /// The kernel refused a request with this `errno`; 0 if it acknowledged the request.
    case error(Int32)
    /// Any other message: of another type or address family, or with invalid content.
    case other
}

/// A network interface, as the kernel describes it.
struct NetworkLink: Hashable {
    var index: UInt32
    /// The interface's name, such as `eth0`; at most 15 bytes.
    var name: String
    /// The kind of hardware, one of the kernel's numbers `ARPHRD_…`.
    var hardware: UInt16
    /// The interface's flags, the kernel's bits `IFF_…`.
    var flags: UInt32
    /// The kind of a virtual interface: `wireguard`, `tun`, `bridge`; empty for hardware.
    var driver: String

    var isLoopback: Bool { flags & 0x8 != 0 }
    var isPointToPoint: Bool { flags & 0x10 != 0 }
    /// Returns true if the interface is up and has a carrier: `IFF_UP`, `IFF_RUNNING`.
    var isRunning: Bool { flags & 0x41 == 0x41 }
}

/// An address of an interface, as the kernel describes it.
struct LinkAddress: Hashable {
    /// The number of the interface.
    var index: UInt32
    /// The address, with the interface as its scope if it is link-local.
    var address: IPAddress
    var prefixLength: UInt8
    /// The address's flags, the kernel's bits `IFA_F_…`.
    var flags: UInt32

    /// Returns true if duplicate address detection has not finished or has failed: nothing can be sent from the address.
    var isTentative: Bool { flags & (0x40 | 0x08) != 0 }
    var isDeprecated: Bool { flags & 0x20 != 0 }
    /// Returns true if this is a temporary IPv6 address for privacy (RFC 8981). On IPv4 the same bit marks a secondary address.
    var isTemporary: Bool { flags & 0x01 != 0 && address.isV6 }
}

extension NetlinkMessage {
    /// Reads the messages of a datagram, up to one with an impossible length. A message with invalid content becomes ``other``.
    /// - Parameter isInterrupted: set if the kernel reports that a list changed during the dump (`NLM_F_DUMP_INTR`).
    static func all(in datagram: RawSpan, isInterrupted: inout Bool) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var offset = 0
        while datagram.byteCount - offset >= 16 {
            let size = Int(datagram.native32(offset))
            guard size >= 16, size <= datagram.byteCount - offset else { break }
            if datagram.native16(offset + 6) & 0x10 != 0 { isInterrupted = true }
            let body = datagram.extracting(offset + 16..<(offset + size))
            messages.append(NetlinkMessage(type: datagram.native16(offset + 4), body))
            offset += min((size + 3) & ~3, datagram.byteCount - offset)
        }
        return messages
    }

    private init(type: UInt16, _ body: RawSpan) {
        let read: NetlinkMessage? =
            switch type {
            case 2: body.byteCount >= 4 ? .error(0 &- Int32(bitPattern: body.native32(0))) : nil
            case 3: .done
            case 16: NetworkLink(body).map { .link($0) }
            case 17: NetworkLink(body).map { .linkGone(index: $0.index) }
            case 20: LinkAddress(body).map { .address($0) }
            case 21: LinkAddress(body).map { .addressGone($0) }
            default: nil
            }
        self = read ?? .other
    }
}

extension NetworkLink {
    /// Reads an `ifinfomsg` and its attributes.
    fileprivate init?(_ body: RawSpan) {
        guard body.byteCount >= 16 else { return nil }
        hardware = body.native16(2)
        index = body.native32(4)
        flags = body.native32(8)
        name = ""
        driver = ""
        NetlinkAttributes(body, from: 16).forEach { type, value in
            switch type {
            case 3: name = value.name  // IFLA_IFNAME
            case 18:  // IFLA_LINKINFO
                NetlinkAttributes(value, from: 0).forEach { if $0 == 1 { driver = $1.name } }  // IFLA_INFO_KIND
            default: break
            }
        }
        guard index > 0, index <= UInt32(Int32.max), !name.isEmpty else { return nil }
    }
}

extension LinkAddress {
    /// Reads an `ifaddrmsg` and its attributes.
    fileprivate init?(_ body: RawSpan) {
        guard body.byteCount >= 8 else { return nil }
        let family = body.byte(0)
        prefixLength = body.byte(1)
        flags = UInt32(body.byte(2))
        index = body.native32(4)
        var local: IPAddress?
        var prefixAddress: IPAddress?  // the remote address if the interface is point-to-point
        var wideFlags: UInt32?
        NetlinkAttributes(body, from: 8).forEach { type, value in
            switch type {
            case 1: prefixAddress = IPAddress(family: family, value)  // IFA_ADDRESS
            case 2: local = IPAddress(family: family, value)  // IFA_LOCAL
            case 8: if value.byteCount == 4 { wideFlags = value.native32(0) }  // IFA_FLAGS
            default: break
            }
        }
        guard let address = local ?? prefixAddress, index > 0, index <= UInt32(Int32.max),
            prefixLength <= (address.isV6 ? 128 : 32)
        else { return nil }
        self.address = address.scoped(to: index)
        flags = wideFlags ?? flags
    }
}

extension IPAddress {
    fileprivate init?(family: UInt8, _ value: RawSpan) {
        switch (family, value.byteCount) {
        case (2, 4): self = .v4(value.bigEndian32(0))  // AF_INET
        case (10, 16):  // AF_INET6
            self = .v6(value.bigEndian128(0), scope: 0)
        default: return nil
        }
    }
}

/// A sequence of netlink attributes: each has a size, a type and a value, and begins at a multiple of four bytes.
private struct NetlinkAttributes: ~Escapable {
    let bytes: RawSpan

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan, from start: Int) {
        self.bytes = bytes.extracting(start...)
    }

    func forEach(_ body: (UInt16, RawSpan) -> Void) {
        var offset = 0
        while bytes.byteCount - offset >= 4 {
            let size = Int(bytes.native16(offset))
            guard size >= 4, size <= bytes.byteCount - offset else { return }
            // The two highest bits of the type's field are flags on the value's encoding.
            body(
                bytes.native16(offset + 2) & 0x3FFF,
                bytes.extracting(offset + 4..<(offset + size)))
            offset += min((size + 3) & ~3, bytes.byteCount - offset)
        }
    }
}

extension RawSpan {
    /// The text before the first zero byte, at most 32 bytes long.
    fileprivate var name: String {
        var end = 0
        while end < min(byteCount, 32), byte(end) != 0 { end += 1 }
        return extracting(..<end).text
    }
}
