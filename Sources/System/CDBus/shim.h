// SPDX-License-Identifier: Apache-2.0
// libdbus. Its type codes are casts, which Swift does not import.
#pragma once
#include <dbus/dbus.h>

static const int earshot_dbus_string = DBUS_TYPE_STRING;
static const int earshot_dbus_variant = DBUS_TYPE_VARIANT;
static const int earshot_dbus_array = DBUS_TYPE_ARRAY;
static const int earshot_dbus_uint32 = DBUS_TYPE_UINT32;

/// For libraries that connect by themselves: from now on connecting leaves the process's SIGPIPE to the program.
static inline void earshot_dbus_leave_sigpipe(void) { dbus_connection_set_change_sigpipe(FALSE); }

/// Connects, for the caller alone, and leaves the process's SIGPIPE and its end to the program; NULL where nobody answers.
static inline DBusConnection *earshot_dbus_connect(const char *address) {
    earshot_dbus_leave_sigpipe();
    DBusConnection *connection = dbus_connection_open_private(address, NULL);
    if (connection) dbus_connection_set_exit_on_disconnect(connection, FALSE);
    return connection;
}
static inline void earshot_dbus_close(DBusConnection *connection) {
    dbus_connection_close(connection);
    dbus_connection_unref(connection);
}
/// Whether it is a bus's own name for a client, or one that a client asked for; libdbus ends the process for any other.
static inline int earshot_dbus_is_name(const char *name) { return dbus_validate_bus_name(name, NULL); }
