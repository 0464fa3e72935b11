// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

/// The socket by which other programs of the same user see and control a call.
///
/// It has a thread, `call socket`, which never delays the call: it performs commands as any user interface does, and
/// disconnects clients that read too slowly. Members are for any thread except a render thread.
package final class CallSocketServer: Sendable {
    /// The maximum seconds in which clients get the last events after the call's end.
    private static let closingTime = 0.5

    /// The path of the socket.
    package let path: String
    private let loop: CallSocketLoop
    private let thread: ServiceThread
    private let isClosed = LockedValue(false)

    /// Creates the socket of this process in a folder. Removes the sockets of processes that have ended.
    /// - Parameter program: the version of the program, for the clients.
    package init(_ call: LiveCall, program: String, folder: CallSocketFolder) throws(CallSocketError) {
        try folder.make()
        folder.removeStaleSockets()
        let path = folder.path(of: getpid())
        let loop = CallSocketLoop(call, program: program, listener: try UnixSocket.listen(at: path), path: path)
        let thread = ServiceThread(name: "call socket", wakeup: loop.wakeup, pacing: { loop.work() })
        let code = thread.start()
        guard code == 0 else {
            loop.closeAll()
            throw .noThread(code: code)
        }
        self.path = path
        self.loop = loop
        self.thread = thread
    }

    deinit { close() }

    /// The number of connected clients.
    package var clientCount: Int { loop.clientCount }

    /// Disconnects the clients and removes the socket. Waits at most half a second for clients that still read the last events.
    /// Close the call first, so that the clients get its end.
    package func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        loop.requestEnd(within: Self.closingTime)
        _ = loop.ended.wait(timeout: .now() + 4 * Self.closingTime)
        thread.stop()
    }
}
