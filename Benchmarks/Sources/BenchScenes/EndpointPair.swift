// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import EarshotAudioBase
@testable import EarshotMediaTransport

/// Two endpoints with a session between them, in memory: sent datagrams stay in the outbox until the caller passes them on.
public final class EndpointPair {
    /// One of the two.
    public final class End {
        /// The endpoint under test.
        public var endpoint: MediaEndpoint
        /// The address at which the other reaches it.
        public let address: SocketAddress
        /// The datagrams that it has sent.
        public var outbox: [[UInt8]] = []

        init(_ identity: Identity, _ address: SocketAddress, at now: HostTime) {
            endpoint = MediaEndpoint(identity: identity)
            self.address = address
            endpoint.setLocalAddresses([address.address], at: now)
        }
    }

    /// The number of each end at the other.
    public static let peer = PeerID(1)
    /// Both ends.
    public let ends: [End]
    /// The datagrams of both directions until the session was established.
    public private(set) var record: [(from: Int, bytes: [UInt8])] = []
    /// The time at which the session was established.
    public private(set) var now = HostTime(nanoseconds: 1_000_000_000)

    /// Creates a session.
    public init() throws {
        let date = Int64(Date.now.timeIntervalSince1970)
        let identities = try (0..<2).map { _ in try Identity.generate(at: date) }
        let start = now
        let ends = (0..<2).map {
            End(identities[$0], SocketAddress(.v4(0x0A00_0001 + UInt32($0)), port: 47_400), at: start)
        }
        self.ends = ends
        var generator = SystemRandomNumberGenerator()
        let credentials = (0..<2).map { _ in ICECredentials.random(using: &generator) }
        for (end, role) in [(0, ICERole.controlling), (1, .controlled)] {
            _ = ends[end].endpoint.add(
                Self.peer, LocalTransportParameters(role: role, credentials: credentials[end]), at: now,
                using: &generator)
            let other = ends[1 - end]
            try ends[end].endpoint.setRemote(
                RemoteTransportParameters(
                    credentials: credentials[1 - end],
                    candidates: ICECandidate.hosts([other.address.address], port: other.address.port),
                    certificate: identities[1 - end].certificateFingerprint, dtlsRole: end == 0 ? .client : .server),
                of: Self.peer, at: now)
        }
        connect()
    }

    private func connect() {
        for _ in 0..<1_000 where !isOpen {
            now.nanoseconds += 1_000_000
            for (index, end) in ends.enumerated() {
                end.endpoint.tick(
                    at: now, transmit: { bytes, _, _ in end.outbox.append(Array(bytes)) }, deliver: { _, _ in })
                let sent = end.outbox
                end.outbox = []
                for bytes in sent { hand(bytes, from: index) }
            }
        }
        precondition(isOpen, "no session")
        for end in ends { end.outbox = [] }
    }

    private func hand(_ bytes: [UInt8], from index: Int) {
        record.append((index, bytes))
        let (source, other) = (ends[index].address, ends[1 - index])
        var bytes = bytes
        bytes.withUnsafeMutableBytes {
            other.endpoint.receive(
                $0, from: source, to: other.address.address, at: now,
                transmit: { bytes, _, _ in other.outbox.append(Array(bytes)) }, deliver: { _, _ in })
        }
    }

    private var isOpen: Bool {
        ends.allSatisfy { if case .open? = $0.endpoint.state(of: Self.peer) { true } else { false } }
    }
}

/// Packets of one size, each in its own slot: before protection, and as sent.
public final class PacketRow {
    private static let stride = 2_048
    private let bytes: UnsafeMutableRawBufferPointer
    /// Bytes in each slot.
    public var sizes: [Int]

    /// Creates this many slots.
    public init(count: Int) {
        bytes = .allocate(byteCount: count * Self.stride, alignment: 64)
        bytes.initializeMemory(as: UInt8.self, repeating: 0x5A)
        sizes = Array(repeating: 0, count: count)
    }

    deinit { bytes.deallocate() }

    /// A whole slot.
    public subscript(index: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: bytes[index * Self.stride..<(index + 1) * Self.stride])
    }

    /// Returns the datagram in a slot.
    public func datagram(_ index: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: self[index][..<sizes[index]])
    }
}

/// An RTP packet whose sequence number can be changed.
public final class NumberedPacket {
    /// The packet.
    public let bytes: UnsafeMutableRawBufferPointer
    private(set) var number: UInt16 = 0

    /// - Parameter size: bytes, including the header.
    public init(size: Int, ssrc: UInt32 = 1) {
        bytes = .allocate(byteCount: size, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 7)
        var memory = bytes.mutableBytes
        RTPPacket(
            payloadType: 96, marker: false, sequenceNumber: 0, timestamp: 0, ssrc: ssrc,
            payloadSize: size - RTPPacket.headerSize
        ).writeHeader(into: &memory)
    }

    deinit { bytes.deallocate() }

    /// Returns the next packet of its source.
    public func next() -> UnsafeRawBufferPointer {
        number &+= 1
        bytes.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt16.self)
        return UnsafeRawBufferPointer(bytes)
    }
}
