// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@testable import EarshotCall
@testable import EarshotSimulation

/// The block of the remote peer's device, as descriptions tell it.
@Suite struct RemoteBlockTests {
    private func negotiated(
        _ codec: Codec, adjust: @escaping (inout SessionDescription) -> Void = { _ in }
    ) throws -> [CallConfiguration] {
        let host = CallPreferences(codec: codec, deviceRate: 48_000, deviceBlock: 256)
        var guest = CallPreferences(codec: codec, deviceRate: 44_100, deviceBlock: 128)
        guest.presentBlock = 441
        let both = try CallSimulation.negotiate(host: host, guest: guest, adjust: adjust)
        return [both.host, both.guest]
    }

    @Test func `each side learns the present block of the other's device at the stream's rate`() throws {
        let configurations = try negotiated(.opus)
        #expect(configurations.map(\.remoteBlock) == [480, 256])
        #expect(configurations.map(\.playout.senderBlock) == [480, 256])
    }

    @Test func `an older peer tells no block`() throws {
        #expect(try negotiated(.opus) { $0.blockTime = nil }.map(\.remoteBlock) == [0, 0])
    }

    @Test func `a peer that sends nothing tells no block`() throws {
        var listener = CallPreferences(deviceRate: 48_000, deviceBlock: 256)
        listener.direction = .receiveOnly
        #expect(try listener.peerOffer(address: .loopback, port: 9, sessionID: 1).blockTime == nil)
    }

    @Test func `running media stays as it is when only the block has changed`() throws {
        var configuration = try negotiated(.opus)[0]
        let old = NegotiatedMedia(configuration: configuration, direction: .sendReceive)
        configuration.remoteBlock = 64
        let new = NegotiatedMedia(configuration: configuration, direction: .sendReceive)
        #expect(new != old && new.isSame(as: old))
        configuration.framesPerPacket = 960
        #expect(!NegotiatedMedia(configuration: configuration, direction: .sendReceive).isSame(as: old))
    }
}
