// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import CEarshotRealtime
import EarshotAudioBase

/// A thread of libpipewire with its context; all objects on it are used under its lock.
///
/// The context loads `client-rt.conf`, so that its data thread, which runs all filters, is scheduled in real time. If that file
/// is missing, the context loads `client.conf`, and the data thread has normal scheduling.
final class PipeWireLoop: @unchecked Sendable {  // its pointers never change
    let context: OpaquePointer
    let main: UnsafeMutablePointer<pw_loop>
    private let thread: OpaquePointer

    private static let library: Void = earshot_pw_init()

    init() throws(AudioDeviceError) {
        _ = Self.library
        guard let thread = pw_thread_loop_new("earshot-pw", nil) else { throw .noThread(code: Int(earshot_pw_errno())) }
        guard let main = pw_thread_loop_get_loop(thread),
            let context = Self.context(main, "client-rt.conf") ?? Self.context(main, "client.conf")
        else {
            let code = Int(earshot_pw_errno())
            pw_thread_loop_destroy(thread)
            throw .callFailed(.pipewire, call: "pw_context_new", code: code)
        }
        self.thread = thread
        self.main = main
        self.context = context
        let code = pw_thread_loop_start(thread)
        if code < 0 { throw .noThread(code: Int(-code)) }
    }

    /// The loop must not be released on its own thread.
    deinit {
        pw_thread_loop_stop(thread)
        pw_context_destroy(context)
        pw_thread_loop_destroy(thread)
    }

    private static func context(_ main: UnsafeMutablePointer<pw_loop>, _ configuration: String) -> OpaquePointer? {
        pw_context_new(main, pipeWireProperties([PW_KEY_CONFIG_NAME: configuration]), 0)
    }

    /// Runs code under the loop's lock. Not on the loop's thread, and not recursively.
    func locked<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        pw_thread_loop_lock(thread)
        defer { pw_thread_loop_unlock(thread) }
        return try body()
    }

    /// Waits until a condition is true; returns false after the time limit. Call it under the lock, which is released between the
    /// checks. The condition is checked every millisecond: libpipewire's own wait uses the wall clock, which may be set
    /// meanwhile.
    func wait(seconds: Double, until isSo: () -> Bool) -> Bool {
        let end = HostTime.now().advanced(bySeconds: seconds)
        while !isSo() {
            if HostTime.now() >= end { return false }
            pw_thread_loop_unlock(thread)
            usleep(1_000)
            pw_thread_loop_lock(thread)
        }
        return true
    }
}

/// Returns libpipewire's dictionary with these entries. The call of libpipewire that gets the dictionary frees it; otherwise
/// `pw_properties_free` must be called.
func pipeWireProperties(_ entries: [String: String]) -> UnsafeMutablePointer<pw_properties>? {
    let properties = earshot_pw_properties()
    for (key, value) in entries { pw_properties_set(properties, key, value) }
    return properties
}

/// Passes libpipewire's dictionary with these entries to a closure and returns the closure's result; nil if memory is missing.
func withPipeWireDictionary<R>(_ entries: [String: String], _ body: (UnsafePointer<spa_dict>) -> R) -> R? {
    guard let properties = pipeWireProperties(entries) else { return nil }
    defer { pw_properties_free(properties) }
    return withUnsafePointer(to: &properties.pointee.dict, body)
}

/// Returns all entries of a dictionary of libpipewire.
func pipeWireEntries(_ dictionary: UnsafePointer<spa_dict>?) -> [String: String] {
    guard let dictionary else { return [:] }
    var entries: [String: String] = [:]
    for i in 0..<Int(dictionary.pointee.n_items) {
        let item = dictionary.pointee.items[i]
        guard let key = item.key, let value = item.value else { continue }
        entries[String(cString: key)] = String(cString: value)
    }
    return entries
}
