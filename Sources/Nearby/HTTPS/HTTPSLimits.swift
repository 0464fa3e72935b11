// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import Dispatch
import Glibc
import NIOPosix

/// The limits of one HTTPS server. Everything that a stranger can make it hold is bounded here.
struct HTTPSLimits: Sendable {
    /// Connections at once, in all. For one more the one that has waited longest for a request is closed; if none waits, the new
    /// one is, before a byte of it is read.
    var connections = 256
    /// Connections at once from one address; more are closed.
    var connectionsPerAddress = 32
    /// Bytes of a request's line and headers.
    var headSize = 16_384
    /// Timeout from the connection, or from a later request's first byte, to the end of its headers; includes TLS's handshake.
    var headTimeout = Duration.seconds(10)
    /// Between two requests on one connection.
    var idleTimeout = Duration.seconds(60)
    /// Timeout of a whole body read by ``HTTPBody/collect(upTo:)``.
    var bodyTimeout = Duration.seconds(10)
    /// Timeout for sending 64 KiB of a response, and for the client's acknowledgement; then the connection is cut.
    var writeTimeout = Duration.seconds(20)
    /// The time that requests have to end after ``HTTPSServer/stop()``.
    var grace = Duration.milliseconds(500)
}

/// The one thread of all HTTPS in the process, `NIO-ELT-0-#0`: started with the first server or client, never ended.
enum HTTPSEventLoop {
    static let group = {
        // OpenSSL frees its tables when the process exits. Of the functions that exit calls, ours is called before OpenSSL's, as
        // that one is registered by now.
        OPENSSL_init_ssl(0, nil)
        atexit { HTTPSEventLoop.stop() }
        return MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }()

    /// Has the thread do nothing any more, so that it does not use OpenSSL while the process exits.
    private static func stop() {
        let loop = group.next()
        guard !loop.inEventLoop else { return }
        let hasStopped = DispatchSemaphore(value: 0)
        loop.execute {
            hasStopped.signal()
            while true { pause() }
        }
        // The thread may be held up; the process exits all the same.
        _ = hasStopped.wait(timeout: .now() + .seconds(1))
    }
}
