// SPDX-License-Identifier: Apache-2.0

import CEarshotDBus
import EarshotAudioBase
import Foundation

/// A connection to the desktop's session bus, for a few calls that wait for their replies. For one thread at a time.
///
/// A call takes at most half a second, and all calls together take at most two, even if the other end never answers.
final class SessionBus {
    private let connection: OpaquePointer
    private let deadline = HostTime.now().advanced(bySeconds: 2)

    /// Connects to the bus; nil if there is no bus, or if the bus refuses.
    /// - Parameter address: a D-Bus address; nil for the environment's, or else the user's own bus in `XDG_RUNTIME_DIR`. Only
    ///   Unix sockets are used: other addresses start programs or wait for networks.
    init?(address: String? = nil) {
        let addresses = (address ?? Self.environmentAddress ?? "").split(separator: ";").filter {
            $0.hasPrefix("unix:")
        }
        guard !addresses.isEmpty, let connection = earshot_dbus_connect(addresses.joined(separator: ";")) else {
            return nil
        }
        self.connection = connection
        if callBus("Hello", []) == nil { return nil }
    }

    deinit { earshot_dbus_close(connection) }

    private static var environmentAddress: String? {
        let environment = ProcessInfo.processInfo.environment
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let folder = environment["XDG_RUNTIME_DIR"], access("\(folder)/bus", F_OK) == 0,
            let escaped = dbus_address_escape_value("\(folder)/bus")
        else { return nil }
        defer { dbus_free(escaped) }
        return "unix:path=\(String(cString: escaped))"
    }

    /// Calls the bus itself.
    func callBus(_ method: String, _ arguments: [String]) -> BusReply? {
        call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method, arguments)
    }

    /// Calls a running client, without starting one.
    /// - Returns: nil after an error or without a reply.
    func call(
        _ destination: String, _ path: String, _ interface: String, _ method: String, _ arguments: [String] = []
    ) -> BusReply? {
        let limit = min(0.5, deadline.seconds(since: .now()))
        guard limit > 0, earshot_dbus_is_name(destination) != 0,
            let message = dbus_message_new_method_call(destination, path, interface, method)
        else { return nil }
        defer { dbus_message_unref(message) }
        dbus_message_set_auto_start(message, 0)
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        for argument in arguments {
            let isAppended = argument.withCString { bytes in
                var bytes: UnsafePointer<CChar>? = bytes
                return dbus_message_iter_append_basic(&iterator, earshot_dbus_string, &bytes)
            }
            if isAppended == 0 { return nil }
        }
        return reply(to: message, by: HostTime.now().advanced(bySeconds: limit))
    }

    /// Waits for the reply with a deadline. libdbus's own blocking call waits forever while a bus does not accept the message.
    private func reply(to message: OpaquePointer, by deadline: HostTime) -> BusReply? {
        var call: OpaquePointer?
        guard dbus_connection_send_with_reply(connection, message, &call, -1) != 0, let call else { return nil }
        defer { dbus_pending_call_unref(call) }
        while dbus_pending_call_get_completed(call) == 0 {
            let remaining = deadline.seconds(since: .now())
            guard remaining > 0, dbus_connection_read_write_dispatch(connection, CInt(remaining * 1e3) + 1) != 0 else {
                break
            }
        }
        guard dbus_pending_call_get_completed(call) != 0, let reply = dbus_pending_call_steal_reply(call) else {
            dbus_pending_call_cancel(call)
            return nil
        }
        let answer = BusReply(reply)
        return dbus_message_get_type(reply) == DBUS_MESSAGE_TYPE_METHOD_RETURN ? answer : nil
    }
}

/// A reply from the bus. libdbus has checked that it is well-formed.
final class BusReply {
    private let message: OpaquePointer

    /// Takes ownership of the message.
    init(_ message: OpaquePointer) { self.message = message }

    deinit { dbus_message_unref(message) }

    /// The first value if it is a string, also inside a variant; otherwise nil.
    var string: String? { first { Self.string(&$0) } }
    /// The first value if it is an unsigned 32-bit number; otherwise nil.
    var number: UInt32? {
        first { iterator in
            guard dbus_message_iter_get_arg_type(&iterator) == earshot_dbus_uint32 else { return nil }
            var number: UInt32 = 0
            dbus_message_iter_get_basic(&iterator, &number)
            return number
        }
    }
    /// The strings of the first value if that is an array; otherwise empty.
    var strings: [String] {
        first { iterator in
            guard dbus_message_iter_get_arg_type(&iterator) == earshot_dbus_array else { return nil }
            var element = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &element)
            var strings: [String] = []
            while let string = Self.string(&element) {
                strings.append(string)
                dbus_message_iter_next(&element)
            }
            return strings
        } ?? []
    }

    private func first<R>(_ read: (inout DBusMessageIter) -> R?) -> R? {
        var iterator = DBusMessageIter()
        return dbus_message_iter_init(message, &iterator) == 0 ? nil : read(&iterator)
    }

    private static func string(_ iterator: inout DBusMessageIter) -> String? {
        if dbus_message_iter_get_arg_type(&iterator) == earshot_dbus_variant {
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return dbus_message_iter_get_arg_type(&inner) == earshot_dbus_string ? string(&inner) : nil
        }
        guard dbus_message_iter_get_arg_type(&iterator) == earshot_dbus_string else { return nil }
        var bytes: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &bytes)
        return bytes.map { String(cString: $0) }
    }
}
