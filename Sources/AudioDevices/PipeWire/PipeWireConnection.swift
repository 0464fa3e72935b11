// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import CEarshotRealtime

/// A client's connection to a server. Under the loop's lock.
///
/// This class opens the socket itself, because libpipewire prefers `PIPEWIRE_REMOTE` to the remote that a program names, and
/// libpipewire's errors have less detail.
final class PipeWireConnection {
    let core: OpaquePointer
    /// Called when the server has answered everything before the sync of this number.
    var onDone: ((CInt) -> Void)?
    /// Called when the server has ended, or has removed this client.
    var onGone: ((String) -> Void)?
    private let hook: PipeWireHook<pw_core_events>

    /// - Parameter remote: a socket's path, or its name in the runtime folder; nil for the session's own.
    init(_ loop: PipeWireLoop, remote: String?, properties: [String: String]) throws(AudioDeviceError) {
        let socket = try Self.connect(remote)
        guard let core = pw_context_connect_fd(loop.context, socket, pipeWireProperties(properties), 0) else {
            throw .callFailed(.pipewire, call: "pw_context_connect_fd", code: Int(earshot_pw_errno()))
        }
        self.core = core
        var events = pw_core_events()
        events.version = UInt32(PW_VERSION_CORE_EVENTS)
        events.done = pipeWireDone
        events.error = pipeWireError
        hook = PipeWireHook(events)
        earshot_pw_listen_core(core, hook.hook, hook.events, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Closes the connection; its objects must be destroyed before.
    func close() {
        hook.remove()
        pw_core_disconnect(core)
    }

    private static func connect(_ remote: String?) throws(AudioDeviceError) -> CInt {
        var code: CInt = 0
        for path in paths(remote) {
            code = earshot_pw_socket(path)
            if code >= 0 { return code }
            if code == -EACCES || code == -EPERM { throw notPermitted(path) }
        }
        throw .noServer(.pipewire, server: remote, onPipeWire: false)
    }

    /// Returns the error for a socket that this user may not open. If the socket's owner cannot be read, the folder's is named.
    static func notPermitted(_ path: String) -> AudioDeviceError {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        var status = stat()
        let isSeen = stat(path, &status) == 0 || stat(folder, &status) == 0
        let owner = isSeen ? getpwuid(status.st_uid) : nil
        return .otherUsersServer(.pipewire, socket: path, owner: owner.map { String(cString: $0.pointee.pw_name) })
    }

    /// Returns the possible paths of a server's socket, in libpipewire's order.
    private static func paths(_ remote: String?) -> [String] {
        let name = remote ?? environment("PIPEWIRE_REMOTE") ?? "pipewire-0"
        guard !name.hasPrefix("/") else { return [name] }
        let folder = environment("PIPEWIRE_RUNTIME_DIR") ?? environment("XDG_RUNTIME_DIR")
        return (folder.map { [$0] } ?? []).map { "\($0)/\(name)" } + ["/run/pipewire/\(name)"]
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

// The functions below are called on the loop's thread; `data` is the connection.

private func pipeWireDone(_ data: UnsafeMutableRawPointer?, _ id: UInt32, _ number: CInt) {
    guard let data, id == PW_ID_CORE else { return }
    Unmanaged<PipeWireConnection>.fromOpaque(data).takeUnretainedValue().onDone?(number)
}

private func pipeWireError(
    _ data: UnsafeMutableRawPointer?, _ id: UInt32, _ number: CInt, _ code: CInt, _ message: UnsafePointer<CChar>?
) {
    guard let data, id == PW_ID_CORE, code == -EPIPE else { return }
    Unmanaged<PipeWireConnection>.fromOpaque(data).takeUnretainedValue().onGone?(
        message.map { String(cString: $0) } ?? "")
}
