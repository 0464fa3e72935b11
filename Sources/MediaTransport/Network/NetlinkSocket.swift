// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A non-blocking rtnetlink socket, which receives the kernel's answers and notifications about links and addresses.
struct NetlinkSocket: ~Copyable, Sendable {
    let fileDescriptor: CInt

    /// The groups of notifications about links and addresses: `RTMGRP_LINK`, `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV6_IFADDR`.
    static let changeGroups: UInt32 = 0x1 | 0x10 | 0x100

    /// A list to request from the kernel: `RTM_GETLINK` or `RTM_GETADDR`.
    enum List: UInt16 {
        case links = 18
        case addresses = 22
    }

    /// - Parameter groups: the groups of notifications; 0 for none.
    init(groups: UInt32 = 0) throws(NetworkError) {
        let type = CInt(SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let fd = socket(AF_NETLINK, type, 0)  // NETLINK_ROUTE
        guard fd >= 0 else { throw NetworkError(code: errno) }
        guard unsafe Self.withAddress(groups: groups, { unsafe bind(fd, $0, $1) }) == 0 else {
            let error = NetworkError(code: errno)
            close(fd)
            throw error
        }
        fileDescriptor = fd
    }

    deinit { close(fileDescriptor) }

    /// Calls `body` with a `sockaddr_nl`: family, padding, port, groups. Its port is 0, so the kernel chooses one in `bind`.
    private static func withAddress(groups: UInt32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var storage = sockaddr_storage()
        storage.ss_family = sa_family_t(AF_NETLINK)
        unsafe withUnsafeMutableBytes(of: &storage) {
            unsafe $0.storeBytes(of: groups, toByteOffset: 8, as: UInt32.self)
        }
        return unsafe withUnsafePointer(to: storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, 12) }
        }
    }

    /// Requests a whole list from the kernel; ``receive(into:)`` then returns it.
    func request(_ list: List) throws(NetworkError) {
        // The request is an nlmsghdr and an rtgenmsg, which asks for all address families.
        var request = InlineArray<5, UInt32>(repeating: 0)
        let flags: UInt16 = 0x1 | 0x300  // NLM_F_REQUEST, NLM_F_DUMP
        let fd = fileDescriptor
        let sent = unsafe withUnsafeMutableBytes(of: &request) { bytes in
            unsafe bytes.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
            unsafe bytes.storeBytes(of: list.rawValue, toByteOffset: 4, as: UInt16.self)
            unsafe bytes.storeBytes(of: flags, toByteOffset: 6, as: UInt16.self)
            return unsafe send(fd, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        }
        guard sent >= 0 else { throw NetworkError(code: errno) }
    }

    /// The result of a read.
    enum Next {
        case messages([NetlinkMessage], isInterrupted: Bool)
        /// Messages were lost: more arrived than the socket holds, or a datagram was larger than the buffer.
        case lost
        case nothing
    }

    /// Receives the next datagram.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> Next {
        while true {
            var sender = sockaddr_storage()
            var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let fd = fileDescriptor
            let count = unsafe withUnsafeMutablePointer(to: &sender) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe recvfrom(fd, buffer.baseAddress, buffer.count, CInt(MSG_TRUNC), $0, &size)
                }
            }
            if count < 0 {
                switch errno {
                case EINTR: continue
                case EAGAIN: return .nothing
                case ENOBUFS: return .lost
                case let code: throw NetworkError(code: code)
                }
            }
            // Only the kernel has port 0; datagrams from other senders are dropped.
            guard unsafe withUnsafeBytes(of: sender, { unsafe $0.load(fromByteOffset: 4, as: UInt32.self) }) == 0 else {
                continue
            }
            guard count <= buffer.count else { return .lost }
            var isInterrupted = false
            let messages = unsafe NetlinkMessage.all(
                in: buffer.bytes.extracting(..<count), isInterrupted: &isInterrupted)
            return .messages(messages, isInterrupted: isInterrupted)
        }
    }
}

/// The kernel's list of this machine's addresses could not be read.
public struct NetworkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason as an `errno`.
    public let code: CInt

    init(code: CInt) { self.code = code }

    /// One sentence that says what happened.
    public var description: String {
        unsafe "the system does not tell this machine's network addresses (\(String(cString: strerror(code))))"
    }
}
