// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import Dispatch
import Glibc
import NIOPosix

/// The limits of an HTTPS server, which bound everything that a client can make it store.
struct HTTPSLimits: Sendable {
    /// The maximum connections. A further one replaces the one that has waited longest for a request; if none waits, the new one
    /// is closed unread.
    var connections = 256
    /// The maximum connections from one address; more are closed.
    var connectionsPerAddress = 32
    /// The maximum bytes of a request's line and headers.
    var headSize = 16_384
    /// The time from the connection, or from a later request's first byte, to the end of its headers; includes TLS's handshake.
    var headTimeout = Duration.seconds(10)
    /// The time between two requests on one connection.
    var idleTimeout = Duration.seconds(60)
    /// The time for a whole body read by ``HTTPBody/collect(upTo:)``.
    var bodyTimeout = Duration.seconds(10)
    /// The time for sending 64 KiB of a response, and for the client's acknowledgement; then the connection is aborted.
    var writeTimeout = Duration.seconds(20)
    /// The time that pending requests have after ``HTTPSServer/stop()``.
    var grace = Duration.milliseconds(500)
}

/// The thread of all HTTPS in the process, named `NIO-ELT-0-#0`: it starts with the first server or client and never ends.
enum HTTPSEventLoop {
    static let group = {
        // OpenSSL frees its tables at exit. Exit handlers run in reverse order: OpenSSL registers its handler first, so the
        // handler below runs before it.
        OPENSSL_init_ssl(0, nil)
        atexit { HTTPSEventLoop.stop() }
        return MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }()

    /// Blocks the thread, so that it does not use OpenSSL while the process exits.
    private static func stop() {
        let loop = group.next()
        guard !loop.inEventLoop else { return }
        let hasStopped = DispatchSemaphore(value: 0)
        loop.execute {
            hasStopped.signal()
            while true { pause() }
        }
        // The thread may be busy; the process exits anyway.
        _ = hasStopped.wait(timeout: .now() + .seconds(1))
    }
}
