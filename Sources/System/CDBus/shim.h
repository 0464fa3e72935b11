// SPDX-License-Identifier: Apache-2.0
// libdbus. Its type codes are casts, which Swift does not import.
#pragma once
#include <dbus/dbus.h>

static const int earshot_dbus_string = DBUS_TYPE_STRING;
static const int earshot_dbus_variant = DBUS_TYPE_VARIANT;
static const int earshot_dbus_array = DBUS_TYPE_ARRAY;
static const int earshot_dbus_uint32 = DBUS_TYPE_UINT32;

/// For libraries that connect by themselves: from then on, connecting does not change how the process handles SIGPIPE.
static inline void earshot_dbus_leave_sigpipe(void) { dbus_connection_set_change_sigpipe(FALSE); }

/// Connects with a private connection, which neither changes how the process handles SIGPIPE nor exits the process; NULL if
/// nobody answers.
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
/// True for a valid unique or well-known bus name; libdbus aborts the process for any other.
static inline int earshot_dbus_is_name(const char *name) { return dbus_validate_bus_name(name, NULL); }
