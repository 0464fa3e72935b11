// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Foundation
import Synchronization

/// A call's media over plain RTP on loopback, without ICE, DTLS and SRTP, for programs that support only that.
final class PlainPort: @unchecked Sendable {  // the thread's own, constant, atomic or locked
    let port: UInt16
    private let socket: MediaSocket
    private let client: any MediaClient
    private let arrivals = Mutex<[(PeerID, SocketAddress?)]>([])
    private let running = Atomic<Bool>(true)
    private let ended = DispatchSemaphore(value: 0)

    init(_ client: any MediaClient) throws {
        socket = try MediaSocket(address: .loopback, port: 0)
        port = socket.localAddress.port
        self.client = client
        Thread.detachNewThread { [self] in
            run()
            ended.signal()
        }
    }

    /// Adds a remote peer that listens on this port, or, with nil, only sends.
    func add(_ peer: PeerID, listensAt port: UInt16?) {
        let address = port.map { SocketAddress(.loopback, port: $0) }
        arrivals.withLock { $0.append((peer, address)) }
        client.wakeup.handle.wake()
    }

    /// Says goodbye to all peers and ends.
    func stop() {
        guard running.exchange(false, ordering: .acquiringAndReleasing) else { return }
        client.wakeup.handle.wake()
        ended.wait()
    }

    private func run() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 16)
        defer { buffer.deallocate() }
        var listeners: [PeerID: SocketAddress] = [:]
        var speaker: PeerID?
        while running.load(ordering: .acquiring) {
            sleep()
            for (peer, address) in arrivals.withLock({ arrivals in
                defer { arrivals = [] }
                return arrivals
            }) {
                if let address { listeners[peer] = address } else { speaker = peer }
                client.setOpen(true, to: peer)
            }
            let now = HostTime.now()
            while let received = try? socket.receive(into: buffer) {
                let packet = UnsafeRawBufferPointer(rebasing: buffer[..<min(received.size, buffer.count)])
                let listener = listeners.first { $0.value == received.source }?.key
                if let peer = listener ?? speaker { client.receive(packet, from: peer, at: now) }
            }
            client.sendMedia(at: now) { packet, peer in
                if let address = listeners[peer] { _ = try? socket.send(packet, to: address) }
            }
        }
        for (peer, address) in listeners {
            client.leave(peer, at: .now()) { packet, _ in _ = try? socket.send(packet, to: address) }
        }
    }

    private func sleep() {
        let wakeup = client.wakeup
        wakeup.prepareToSleep()
        guard !client.hasMedia else { return wakeup.wokeUp(isSignalled: false) }
        var descriptors = [
            pollfd(fd: socket.fileDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&descriptors, 2, 5)
        wakeup.wokeUp(isSignalled: descriptors[1].revents != 0)
    }
}
