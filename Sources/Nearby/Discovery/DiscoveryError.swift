// SPDX-License-Identifier: Apache-2.0

import CEarshotAvahi
import Glibc

/// The reason that rooms cannot be announced or discovered. Addresses and join codes still work.
public enum DiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Avahi's daemon is not running; `isInstalled` tells whether it is installed.
    case noDaemon(isInstalled: Bool)
    /// The system's D-Bus, which connects to the daemon, is missing.
    case noBus
    /// The daemon refused; `reason` is its message.
    case refused(reason: String)
    /// The room's name cannot be announced.
    case invalidName(String)

    /// Creates an error from libavahi's code.
    init(avahi code: CInt) {
        // Unsafe in this file: a path is a C string for the call; libavahi's messages are constants.
        self =
            switch Int(code) {
            // The usual bus error means that the daemon is not running.
            case AVAHI_ERR_NO_DAEMON, AVAHI_ERR_DISCONNECTED, AVAHI_ERR_DBUS_ERROR: .absentDaemon
            case AVAHI_ERR_INVALID_SERVICE_NAME: .invalidName("")
            default: unsafe .refused(reason: String(cString: avahi_strerror(code)))
            }
    }

    /// The error for a daemon that is not running; it tells whether the daemon is installed.
    static var absentDaemon: DiscoveryError {
        let paths = ["/usr/sbin/avahi-daemon", "/usr/bin/avahi-daemon", "/usr/local/sbin/avahi-daemon"]
        return .noDaemon(isInstalled: paths.contains { unsafe access($0, X_OK) == 0 })
    }

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .noDaemon(isInstalled: true): "room discovery is off: Avahi's daemon is not running"
        case .noDaemon(isInstalled: false): "room discovery is off: Avahi is not installed"
        case .noBus: "room discovery is off: D-Bus is not running"
        case .refused(let reason): "room discovery is off: Avahi reports '\(AnnouncedText.printable(reason))'"
        case .invalidName(let name): "'\(AnnouncedText.printable(name))' cannot be a room's name"
        }
    }
}
