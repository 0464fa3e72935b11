// SPDX-License-Identifier: Apache-2.0

import Glibc

extension NetworkAddress {
    /// This machine's addresses at which peers may reach it now, the most useful first: wired before wireless before VPNs,
    /// what holds on one link only last. Interfaces that are down or without a cable are left out, and addresses that are
    /// still being tried. It asks the kernel, which takes some 0.1 ms; it never waits.
    /// - Parameter includingLoopback: whether loopback's are wanted although there are others. Where there are none they are
    ///   told in any case.
    public static func current(includingLoopback: Bool = false) throws(NetworkError) -> [NetworkAddress] {
        let socket = try NetlinkSocket()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)
        defer { unsafe buffer.deallocate() }
        // A list that changed while it was written down may lack something; the news of it come anyhow.
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
    /// Takes a whole list into a table.
    /// - Returns: false if the table changed meanwhile.
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
