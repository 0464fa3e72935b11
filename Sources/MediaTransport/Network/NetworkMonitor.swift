// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Detects changes of this machine's addresses: a cable, a Wi-Fi or a VPN that comes or goes.
///
/// Poll ``fileDescriptor`` for input and call ``receive(at:)``; at ``nextDeadline`` call ``tick(at:)``. For one thread; nothing
/// waits. Changes within a short time are reported together.
package struct NetworkMonitor: ~Copyable, Sendable {
    /// The last reported addresses, as from ``NetworkAddress/current(includingLoopback:)``.
    package private(set) var addresses: [NetworkAddress]
    /// The time of the next ``tick(at:)``; nil if none is due.
    package var nextDeadline: HostTime? { change.deadline }

    private let socket: NetlinkSocket
    private let includesLoopback: Bool
    private var change = NetworkChange()

    /// Reads the addresses, and starts to listen to the kernel's notifications.
    package init(includingLoopback: Bool = false) throws(NetworkError) {
        // The socket gets notifications before the list is read, so that no change is missed.
        let netlink = try NetlinkSocket(groups: NetlinkSocket.changeGroups)
        addresses = try NetworkAddress.current(includingLoopback: includingLoopback)
        includesLoopback = includingLoopback
        socket = netlink
    }

    /// The descriptor for `poll`; do not close it.
    package var fileDescriptor: CInt { socket.fileDescriptor }

    /// Reads the kernel's messages, if any.
    package mutating func receive(at now: HostTime) {
        unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 8) { buffer in
            for _ in 0..<256 {
                guard let next = unsafe try? socket.receive(into: buffer) else { return }
                switch next {
                case .messages(let messages, _):
                    if messages.contains(where: \.isChange) { change.note(at: now) }
                case .lost: change.note(at: now)
                case .nothing: return
                }
            }
        }
    }

    /// Reads the addresses again if ``nextDeadline`` has passed.
    /// - Returns: the addresses if they have changed.
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
    /// Returns true if the message may mean a change of addresses.
    fileprivate var isChange: Bool {
        switch self {
        case .link, .linkGone, .address, .addressGone: true
        case .done, .error, .other: false
        }
    }
}

/// The time at which addresses are read after notifications: when the notifications pause, or a quarter of a second after the
/// first if they do not.
struct NetworkChange {
    /// The seconds without a notification after which the addresses are read.
    static let pause = 0.05
    /// The maximum seconds from the first notification until the addresses are read.
    static let longest = 0.25
    /// The seconds until the addresses are read again if that failed.
    static let retryInterval = 1.0

    private var firstNotification: HostTime?
    private(set) var deadline: HostTime?

    mutating func note(at now: HostTime) {
        let firstNotification = firstNotification ?? now
        self.firstNotification = firstNotification
        deadline = min(now.advanced(bySeconds: Self.pause), firstNotification.advanced(bySeconds: Self.longest))
    }

    mutating func settle() { self = NetworkChange() }

    mutating func retry(at now: HostTime) { deadline = now.advanced(bySeconds: Self.retryInterval) }
}
