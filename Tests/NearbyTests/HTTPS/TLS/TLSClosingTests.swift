// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import TestTraits
import Testing

@testable import EarshotNearby

/// The end of a handler's connection.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct TLSClosingTests {
    @Test func `closing sends a close_notify and waits for the peer's`() throws {
        let line = try TLSLine.established()
        let unsent = line.write("not flushed")
        var isClosed = false
        line.below.reads = 0
        line.channel.close().assumeIsolated().whenSuccess { isClosed = true }
        #expect(line.below.reads == 1 && line.channel.isActive)
        // Later content is dropped, and reading continues.
        line.peer.write(Array("late".utf8))
        line.exchange()
        #expect(line.peer.state == .peerClosed && !line.above.events.contains("read late"))
        #expect(line.below.reads == 2 && line.channel.isActive && !isClosed)
        #expect(throws: ChannelError.ioOnClosedChannel) { try unsent.wait() }
        #expect(throws: ChannelError.ioOnClosedChannel) { try line.write("late").wait() }
        line.peer.close()
        line.exchange()
        #expect(!line.channel.isActive && isClosed && line.above.errors.isEmpty)
    }

    @Test func `the peer's close_notify is awaited for at most 250 ms`() throws {
        let line = try TLSLine.established()
        var closed = 0
        line.channel.close().assumeIsolated().whenSuccess { closed += 1 }
        line.channel.close().assumeIsolated().whenSuccess { closed += 1 }
        line.channel.embeddedEventLoop.advanceTime(by: .milliseconds(249))
        #expect(line.channel.isActive && closed == 0)
        line.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!line.channel.isActive && closed == 2)
        // It is not known whether the content was complete.
        #expect(line.above.errors.map { $0 as? TLSError } == [.truncated])
    }

    @Test func `the peer's close_notify is answered, and is not an error`() throws {
        let line = try TLSLine.established()
        line.peer.write(Array("last".utf8))
        line.peer.close()
        line.exchange()
        #expect(line.above.events.suffix(3) == ["read last", "complete", "inactive"] && line.above.errors.isEmpty)
        #expect(line.peer.state == .peerClosed && !line.channel.isActive)
    }

    @Test func `a connection that ends without a close_notify is reported as truncated`() throws {
        let line = try TLSLine.established()
        line.peer.write(Array("not all".utf8))
        line.exchange()
        line.channel.pipeline.fireChannelInactive()
        #expect(line.above.events.suffix(3) == ["complete", "error", "inactive"])
        #expect(line.above.errors.map { $0 as? TLSError } == [.truncated])
    }

    @Test func `a connection that ends during the handshake has an error of its own`() throws {
        let line = try TLSLine(.client)
        let promise = line.write("early")
        line.channel.pipeline.fireChannelInactive()
        #expect(line.above.errors.map { $0 as? TLSError } == [.endedInHandshake])
        #expect(throws: ChannelError.ioOnClosedChannel) { try promise.wait() }
    }

    @Test func `closing during the handshake does not wait`() throws {
        let line = try TLSLine(.client)
        line.below.written = []
        line.channel.close(promise: nil)
        #expect(!line.channel.isActive && line.below.written.isEmpty)
    }

    @Test func `a channel that allows half-closure stays open after the peer has closed its side`() throws {
        let line = try TLSLine.established()
        line.channel.allowRemoteHalfClosure = true
        line.peer.write(Array("question".utf8))
        line.peer.close()
        line.exchange()
        #expect(line.above.events.suffix(3) == ["read question", "complete", "inputClosed"] && line.channel.isActive)
        _ = line.write("answer")
        line.channel.flush()
        #expect(line.exchange() == Array("answer".utf8))
        line.channel.close(promise: nil)
        line.exchange()
        #expect(line.peer.state == .peerClosed && !line.channel.isActive && line.above.errors.isEmpty)
    }

    @Test func `a half-closure by the peer without a close_notify is reported as truncated`() throws {
        let line = try TLSLine.established()
        line.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(line.above.errors.map { $0 as? TLSError } == [.truncated])
        #expect(!line.channel.isActive)
        let fresh = try TLSLine(.client)
        fresh.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(fresh.above.errors.map { $0 as? TLSError } == [.endedInHandshake] && !fresh.channel.isActive)
    }

    @Test func `the local side is closed after pending writes, and the peer's side stays open`() throws {
        let line = try TLSLine.established()
        _ = line.write("question")
        line.channel.flush()
        let unsent = line.write("not flushed")
        line.channel.close(mode: .output, promise: nil)
        #expect(line.exchange() == Array("question".utf8) && line.peer.state == .peerClosed)
        #expect(line.below.closed == [.output] && line.channel.isActive)
        #expect(throws: ChannelError.outputClosed) { try unsent.wait() }
        #expect(throws: ChannelError.outputClosed) { try line.write("more").wait() }
        line.peer.write(Array("answer".utf8))
        line.peer.close()
        line.exchange()
        #expect(line.above.events.suffix(3) == ["read answer", "complete", "inactive"] && line.above.errors.isEmpty)
        #expect(throws: ChannelError.operationUnsupported) {
            try TLSLine.established().channel.close(mode: .input).wait()
        }
    }
}
