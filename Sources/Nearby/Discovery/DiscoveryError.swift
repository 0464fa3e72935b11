// SPDX-License-Identifier: Apache-2.0

import CEarshotAvahi
import Glibc

/// The reason why rooms cannot be announced or discovered. Addresses and join codes still work.
public enum DiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Avahi's daemon does not run; whether it is installed.
    case noDaemon(isInstalled: Bool)
    /// The system's D-Bus, by which the daemon is spoken to, is not there.
    case noBus
    /// The daemon refuses; the reason in its words.
    case refused(reason: String)
    /// A room's name that cannot be announced.
    case invalidName(String)

    /// The meaning of an error of libavahi.
    init(avahi code: CInt) {
        // Unsafe in this file: a path is a C string for the call; libavahi's words are constants.
        self =
            switch Int(code) {
            // The usual bus error is that the daemon does not run.
            case AVAHI_ERR_NO_DAEMON, AVAHI_ERR_DISCONNECTED, AVAHI_ERR_DBUS_ERROR: .absentDaemon
            case AVAHI_ERR_INVALID_SERVICE_NAME: .invalidName("")
            default: unsafe .refused(reason: String(cString: avahi_strerror(code)))
            }
    }

    /// The daemon is not there; whether it could be.
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
        case .refused(let reason): "room discovery is off: Avahi's daemon says '\(AnnouncedText.printable(reason))'"
        case .invalidName(let name): "'\(AnnouncedText.printable(name))' cannot be a room's name"
        }
    }
}
