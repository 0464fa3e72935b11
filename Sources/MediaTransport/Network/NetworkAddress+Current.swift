// SPDX-License-Identifier: Apache-2.0

import Glibc

extension NetworkAddress {
    /// Returns the addresses at which peers may reach this machine now, the most useful first: wired before wireless before VPNs,
    /// then link-local ones, and deprecated ones and loopback last. Leaves out interfaces that are down or without a cable, and
    /// tentative addresses. Asks the kernel, which takes some 0.1 ms; never waits.
    /// - Parameter includingLoopback: true to include loopback although there are others. If there are no others it is always
    ///   included.
    public static func current(includingLoopback: Bool = false) throws(NetworkError) -> [NetworkAddress] {
        let socket = try NetlinkSocket()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)
        defer { unsafe buffer.deallocate() }
        // A list that changes while the kernel dumps it may be incomplete, so it is requested again.
        for _ in 0..<8 {
            var table = NetworkTable()
            let links = unsafe try socket.gather(.links, into: &table, buffer)
            let addresses = unsafe try socket.gather(.addresses, into: &table, buffer)
            if links && addresses {
                return table.reachable(includingLoopback: includingLoopback, isWireless: isWireless)
            }
        }
        throw NetworkError(code: EAGAIN)
    }

    private static func isWireless(_ interface: String) -> Bool {
        unsafe access("/sys/class/net/\(interface)/phy80211", F_OK) == 0
            || access("/sys/class/net/\(interface)/wireless", F_OK) == 0
    }
}

extension NetlinkSocket {
    /// Requests a list from the kernel and reads it into a table.
    /// - Returns: false if the list may be incomplete, because it changed meanwhile or messages were lost.
    fileprivate func gather(
        _ list: List, into table: inout NetworkTable, _ buffer: UnsafeMutableRawBufferPointer
    ) throws(NetworkError) -> Bool {
        try request(list)
        var isWhole = true
        while true {
            switch unsafe try receive(into: buffer) {
            case .nothing: throw NetworkError(code: ENODATA)
            case .lost: isWhole = false
            case .messages(let messages, let isInterrupted):
                if isInterrupted { isWhole = false }
                for message in messages {
                    switch message {
                    case .done: return isWhole
                    case .error(let code): throw NetworkError(code: code)
                    default: table.applyMessage(message)
                    }
                }
            }
        }
    }
}
