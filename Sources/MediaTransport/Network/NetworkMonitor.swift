// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Tells when this machine's addresses change: a cable, a Wi-Fi or a VPN that comes or goes.
///
/// Poll ``fileDescriptor`` for input and call ``receive(at:)``; at ``nextDeadline`` call ``tick(at:)``. One thread; nothing
/// waits. What changes at once, as a cable's address and its router's, is told at once.
package struct NetworkMonitor: ~Copyable, Sendable {
    /// The addresses as they were told last, as ``NetworkAddress/current(includingLoopback:)`` has them.
    package private(set) var addresses: [NetworkAddress]
    /// When ``tick(at:)`` has something to do; nil while it has not.
    package var nextDeadline: HostTime? { change.deadline }

    private let socket: NetlinkSocket
    private let includesLoopback: Bool
    private var change = NetworkChange()

    /// Begins to listen.
    package init(includingLoopback: Bool = false) throws(NetworkError) {
        // The news before the list, so that nothing falls between both.
        let netlink = try NetlinkSocket(groups: NetlinkSocket.changeGroups)
        addresses = try NetworkAddress.current(includingLoopback: includingLoopback)
        includesLoopback = includingLoopback
        socket = netlink
    }

    /// For `poll`; not to be closed.
    package var fileDescriptor: CInt { socket.fileDescriptor }

    /// Reads the kernel's messages, if any.
    package mutating func receive(at now: HostTime) {
        unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 8) { buffer in
            for _ in 0..<256 {
                guard let next = unsafe try? socket.receive(into: buffer) else { return }
                switch next {
                case .messages(let messages, _):
                    if messages.contains(where: \.isNews) { change.note(at: now) }
                case .lost: change.note(at: now)
                case .nothing: return
                }
            }
        }
    }

    /// Looks at the addresses if it is time.
    /// - Returns: the new addresses, if they differ from those reported before.
    package mutating func tick(at now: HostTime) -> [NetworkAddress]? {
        guard let deadline = change.deadline, deadline <= now else { return nil }
        guard let current = try? NetworkAddress.current(includingLoopback: includesLoopback) else {
            change.retry(at: now)
            return nil
        }
        change.settle()
        guard current != addresses else { return nil }
        addresses = current
        return current
    }
}

extension NetlinkMessage {
    /// Returns true if it may mean other addresses.
    fileprivate var isNews: Bool {
        switch self {
        case .link, .linkGone, .address, .addressGone: true
        case .done, .error, .other: false
        }
    }
}

/// When to look after news: as soon as there is a pause, and soon even if there is none.
struct NetworkChange {
    /// Seconds.
    static let pause = 0.05
    static let longest = 0.25
    static let retryInterval = 1.0

    private var first: HostTime?
    private(set) var deadline: HostTime?

    mutating func note(at now: HostTime) {
        let first = first ?? now
        self.first = first
        deadline = min(now.advanced(bySeconds: Self.pause), first.advanced(bySeconds: Self.longest))
    }

    mutating func settle() { self = NetworkChange() }

    mutating func retry(at now: HostTime) { deadline = now.advanced(bySeconds: Self.retryInterval) }
}
