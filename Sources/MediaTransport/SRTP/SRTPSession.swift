// SPDX-License-Identifier: Apache-2.0

import CEarshotSRTP

/// Protects RTP and RTCP packets to one peer and decrypts those from that peer (RFC 3711, RFC 7714), in place, in the caller's
/// buffer.
///
/// A packet that was modified, repeated or sent back is refused with a typed error and changes nothing. After its source's first
/// packet nothing is allocated here (Debian's libsrtp uses NSS, which allocates inside).
///
/// The receiver counts the overflows of the 16-bit sequence number by the packets that arrive. So a sender begins below 2^15
/// (otherwise the loss of its first packets could hide an overflow), and must not send 2^15 packets in a row that do not arrive:
/// with 750 packets a second these are 43 s (§3.3.1).
///
/// Not thread-safe: one thread at a time.
package final class SRTPSession {
    /// The maximum sources (SSRCs) in each direction.
    package static let maximumSources = 32
    /// The maximum bytes that ``protect(_:count:)`` adds to a packet.
    package static let maximumOverhead = 20

    package let profile: SRTPProfile
    private let outbound: SRTPContext
    private let inbound: SRTPContext
    private var sending = Sources()
    private var receiving = Sources()

    /// - Parameters:
    ///   - keys: from the DTLS session with this peer; not used afterwards.
    ///   - role: the local role in that session.
    package init(keys: borrowing SRTPKeys, role: DTLSRole) throws(SRTPError) {
        profile = keys.profile
        outbound = try SRTPContext(keys: keys, sender: role, isOutbound: true)
        inbound = try SRTPContext(keys: keys, sender: role.opposite, isOutbound: false)
    }

    /// Loads the libraries before the first packet needs them: Debian's libsrtp loads NSS with its first key, which takes some
    /// 40 ms once in a process. For any thread.
    package static func prepare() { _ = unsafe prepared }

    /// A session that is retained, so that the libraries stay loaded.
    private nonisolated(unsafe) static let prepared: SRTPSession? = {  // no thread calls its methods
        let keys = unsafe SRTPKeys(profile: .aeadAES128GCM) { material in
            unsafe material.initializeMemory(as: UInt8.self, repeating: 0)
            return true
        }
        guard let keys, let session = try? SRTPSession(keys: keys, role: .client) else { return nil }
        unsafe withUnsafeTemporaryAllocation(byteCount: 12 + maximumOverhead, alignment: 16) { packet in
            unsafe packet.initializeMemory(as: UInt8.self, repeating: 0)
            unsafe packet[0] = 0x80
            _ = unsafe try? session.protect(packet, count: 12)
        }
        return session
    }()

    /// Encrypts and signs a packet, RTP or RTCP (distinguished by RFC 5761 §4).
    /// - Parameters:
    ///   - packet: the packet, followed by room for ``maximumOverhead`` bytes.
    ///   - count: the bytes of the packet.
    /// - Returns: the protected packet's size in bytes.
    /// - Throws: ``SRTPError/malformed(_:)``; ``SRTPError/replay`` and ``SRTPError/tooOld`` for a sequence number that was sent
    ///   before, as protecting two packets alike would reveal both. Other errors do not happen in practice.
    package func protect(_ packet: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        precondition(count >= 0 && packet.count - count >= Self.maximumOverhead, "no room to protect a packet")
        let isControl = unsafe try Self.isControl(packet, count: count, trailer: (0, 0))
        let source = unsafe Self.source(packet, isControl)
        guard sending.canHold(source) else { throw .tooManySources }
        let size = unsafe try outbound.apply(isControl ? srtp_protect_rtcp : srtp_protect, packet, count: count)
        sending.add(source)
        return size
    }

    /// Verifies and decrypts a packet, SRTP or SRTCP.
    /// - Parameters:
    ///   - packet: a buffer that begins with the datagram. After an error its content is undefined.
    ///   - count: the bytes of the datagram.
    /// - Returns: the decrypted packet's size in bytes.
    package func unprotect(_ packet: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        precondition(count >= 0 && count <= packet.count)
        let isControl = unsafe try Self.isControl(
            packet, count: count, trailer: (profile.overhead, profile.controlOverhead))
        let source = unsafe Self.source(packet, isControl)
        guard receiving.canHold(source) else { throw .tooManySources }
        let size = unsafe try inbound.apply(isControl ? srtp_unprotect_rtcp : srtp_unprotect, packet, count: count)
        receiving.add(source)
        return size
    }

    /// Returns true if a packet is RTCP, false if it is RTP.
    /// - Throws: ``SRTPError/malformed(_:)`` for a packet that is too short, or not of version 2.
    private static func isControl(
        _ packet: UnsafeMutableRawBufferPointer, count: Int, trailer: (media: Int, control: Int)
    ) throws(SRTPError) -> Bool {
        let bytes = unsafe packet.bytes
        guard count >= 8, bytes.byte(0) >> 6 == 2 else { throw .malformed(count) }
        let isControl = RTCPCompound.isOne(bytes)
        guard count >= (isControl ? 8 + trailer.control : RTPPacket.headerSize + trailer.media) else {
            throw .malformed(count)
        }
        return isControl
    }

    private static func source(_ packet: UnsafeMutableRawBufferPointer, _ isControl: Bool) -> UInt32 {
        unsafe packet.bytes.bigEndian32(isControl ? 4 : 8)
    }

    /// The sources whose state libsrtp keeps. libsrtp itself would accept any number of sources from a peer.
    private struct Sources {
        private var list: [UInt32] = []

        func canHold(_ source: UInt32) -> Bool { list.count < SRTPSession.maximumSources || list.contains(source) }

        mutating func add(_ source: UInt32) {
            if !list.contains(source) { list.append(source) }
        }
    }
}
