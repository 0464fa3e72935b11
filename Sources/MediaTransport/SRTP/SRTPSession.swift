// SPDX-License-Identifier: Apache-2.0

import CEarshotSRTP

/// Protects the RTP and RTCP that goes to one peer and opens what comes from it (RFC 3711, RFC 7714), in place, in the
/// caller's buffer.
///
/// A packet that was changed, comes twice, or is one's own sent back, is refused with a typed error and changes nothing.
/// After its source's first packet nothing is allocated here (Debian's libsrtp uses NSS, which allocates inside).
///
/// The receiver counts how often the 16-bit sequence number has begun anew, and knows of that only by packets. So a sender
/// begins below 2^15 (or the loss of its first packets could be taken for none of 2^16), and does not send for 2^15 packets
/// on end to somebody who hears nothing: with 750 packets a second these are 43 s (§3.3.1).
///
/// Not thread-safe: one thread at a time.
package final class SRTPSession {
    /// Sources (SSRCs) in each direction.
    package static let maximumSources = 32
    /// Bytes by which ``protect(_:count:)`` lengthens a packet, at most.
    package static let maximumOverhead = 20

    /// The protection of packets.
    package let profile: SRTPProfile
    private let outbound: SRTPContext
    private let inbound: SRTPContext
    private var sending = Sources()
    private var receiving = Sources()

    /// - Parameters:
    ///   - keys: of the DTLS session with this peer; not needed any more afterwards.
    ///   - role: of this side in that session.
    package init(keys: borrowing SRTPKeys, role: DTLSRole) throws(SRTPError) {
        profile = keys.profile
        outbound = try SRTPContext(keys: keys, sender: role, isOutbound: true)
        inbound = try SRTPContext(keys: keys, sender: role.opposite, isOutbound: false)
    }

    /// Makes the libraries below ready, where time does not matter yet: Debian's libsrtp loads NSS with its first key, which
    /// takes some 40 ms, once in a process. Any thread.
    package static func prepare() { _ = unsafe prepared }

    /// Held, so that what is loaded stays.
    private nonisolated(unsafe) static let prepared: SRTPSession? = {  // nobody calls it again
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

    /// Encrypts and signs a packet, RTP or RTCP (told apart by RFC 5761 §4).
    /// - Parameters:
    ///   - packet: the packet, and behind it room for ``maximumOverhead`` bytes.
    ///   - count: bytes of the packet.
    /// - Returns: bytes of the protected packet.
    /// - Throws: ``SRTPError/malformed(_:)``; ``SRTPError/replay`` and ``SRTPError/tooOld`` for a sequence number that was
    ///   sent before: protecting two packets alike would give both away. Others are beyond what happens.
    package func protect(_ packet: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        precondition(count >= 0 && packet.count - count >= Self.maximumOverhead, "no room to protect a packet")
        let isControl = unsafe try Self.isControl(packet, count: count, trailer: (0, 0))
        let source = unsafe Self.source(packet, isControl)
        guard sending.mayHave(source) else { throw .tooManySources }
        let size = unsafe try outbound.apply(isControl ? srtp_protect_rtcp : srtp_protect, packet, count: count)
        sending.add(source)
        return size
    }

    /// Checks and decrypts a packet, SRTP or SRTCP.
    /// - Parameters:
    ///   - packet: a buffer with the datagram in front. Where this throws, what it holds is of no use.
    ///   - count: bytes of the datagram.
    /// - Returns: bytes of the packet.
    package func unprotect(_ packet: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        precondition(count >= 0 && count <= packet.count)
        let isControl = unsafe try Self.isControl(
            packet, count: count, trailer: (profile.overhead, profile.controlOverhead))
        let source = unsafe Self.source(packet, isControl)
        guard receiving.mayHave(source) else { throw .tooManySources }
        let size = unsafe try inbound.apply(isControl ? srtp_unprotect_rtcp : srtp_unprotect, packet, count: count)
        receiving.add(source)
        return size
    }

    /// Returns true if it is RTCP; a packet that is too short to be either is refused here.
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

    /// The sources that libsrtp keeps a state of. It would take any number from a peer.
    private struct Sources {
        private var list: [UInt32] = []

        func mayHave(_ source: UInt32) -> Bool { list.count < SRTPSession.maximumSources || list.contains(source) }

        mutating func add(_ source: UInt32) {
            if !list.contains(source) { list.append(source) }
        }
    }
}
