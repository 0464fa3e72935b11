// SPDX-License-Identifier: Apache-2.0

import BenchReports
import BenchScenes
import CAllocations
import CCrypto
import CSRTPAlone
import EarshotAudioBase
import EarshotMediaTransport
import Foundation

/// The cost of a packet in each direction through a ``MediaEndpoint``, compared with libsrtp alone and AES-128-GCM alone for the
/// same bytes.
struct PacketCost {
    /// The bytes of the packet before it is protected.
    let size: Int
    private static let packets = 400
    private static let repetitions = 41

    private struct Result {
        var times = (ours: Times(), srtp: Times(), cipher: Times())
        var allocations = (ours: 0, srtp: 0)
    }

    func reports() throws -> [Report] {
        let pair = try EndpointPair()
        let (from, to) = (pair.ends[0], pair.ends[1])
        guard let outbound = bench_srtp(1), let inbound = bench_srtp(0) else {
            throw Topics.WrongArgument("no libsrtp")
        }
        let cipher = Cipher()
        defer {
            srtp_dealloc(outbound)
            srtp_dealloc(inbound)
        }
        let (row, other) = (PacketRow(count: Self.packets), PacketRow(count: Self.packets))
        let (packet, otherPacket) = (NumberedPacket(size: size), NumberedPacket(size: size))
        var (sent, received) = (Result(), Result())
        let now = pair.now

        func send() {
            for i in 0..<Self.packets {
                from.endpoint.send(packet.next(), to: EndpointPair.peer) { bytes, _, _ in
                    row[i].copyMemory(from: bytes)
                    row.sizes[i] = bytes.count
                }
            }
        }
        func receive() {
            var count = 0
            for i in 0..<Self.packets {
                to.endpoint.receive(
                    row.datagram(i), from: from.address, to: to.address.address, at: now, transmit: { _, _, _ in },
                    deliver: { _, event in if case .packet = event { count += 1 } })
            }
            precondition(count == Self.packets, "a packet was not taken")
        }
        func protect() {
            for i in 0..<Self.packets {
                other[i].copyMemory(from: otherPacket.next())
                var count = CInt(size)
                precondition(srtp_protect(outbound, other[i].baseAddress, &count) == srtp_err_status_ok)
                other.sizes[i] = Int(count)
            }
        }
        func unprotect() {
            for i in 0..<Self.packets {
                var count = CInt(other.sizes[i])
                precondition(srtp_unprotect(inbound, other[i].baseAddress, &count) == srtp_err_status_ok)
            }
        }
        // The first packets create a stream's state.
        send(); receive(); protect(); unprotect()
        for repetition in 0..<Self.repetitions {
            for turn in 0..<2 {
                if (repetition + turn).isMultiple(of: 2) {
                    sent.allocations.ours += allocations { sent.times.ours.add(Self.packets, send) }
                    received.allocations.ours += allocations { received.times.ours.add(Self.packets, receive) }
                } else {
                    sent.allocations.srtp += allocations { sent.times.srtp.add(Self.packets, protect) }
                    received.allocations.srtp += allocations { received.times.srtp.add(Self.packets, unprotect) }
                }
            }
            sent.times.cipher.add(Self.packets) { for i in 0..<Self.packets { cipher.seal(other[i], size: size) } }
            received.times.cipher.add(Self.packets) { for i in 0..<Self.packets { cipher.open(other[i], size: size) } }
        }
        return reports("sent", sent) + reports("received", received)
    }

    /// Returns the body's allocations on this thread, without those of the list of times.
    private func allocations(_ body: () -> Void) -> Int {
        let before = allocation_count()
        body()
        return allocation_count() - before
    }

    private func reports(_ word: String, _ result: Result) -> [Report] {
        let times = result.times
        let operations = Double(Self.packets * Self.repetitions)
        let (ours, srtp) = (Double(result.allocations.ours), Double(result.allocations.srtp))
        var reports = [
            Report(
                "\(size) bytes \(word)", times.ours.median, least: times.ours.least, "µs", .atMost(5),
                against:
                    "libsrtp alone takes \(decimal(times.srtp.median, 2)) µs, AES-128-GCM of OpenSSL \(decimal(times.cipher.median, 2)) µs"
            )
        ]
        if size == 300 {
            // The growing list of times is part of ours, a few allocations in total.
            let own = max(0, ours - srtp) / operations
            reports.append(
                Report(
                    "allocations for a packet \(word), beyond libsrtp's", own, "", .atMost(0.01),
                    against: "libsrtp and what Debian builds it with allocate \(decimal(srtp / operations, 2)) each"))
        }
        return reports
    }
}

/// AES-128-GCM with a new nonce each time.
final class Cipher {
    private let sealing = Cipher.context(1)
    private let opening = Cipher.context(0)
    private var nonce = [UInt8](repeating: 0, count: 12)

    deinit {
        EVP_CIPHER_CTX_free(sealing)
        EVP_CIPHER_CTX_free(opening)
    }

    func seal(_ packet: UnsafeMutableRawBufferPointer, size: Int) {
        nonce[0] &+= 1
        let bytes = packet.baseAddress!.assumingMemoryBound(to: UInt8.self)
        let header = RTPPacket.headerSize
        precondition(
            bench_seal(sealing, nonce, bytes, CInt(header), bytes + header, CInt(size - header)) == 1, "AES-GCM")
    }

    /// Decrypts what it takes for sealed; a wrong tag does not change the cost.
    func open(_ packet: UnsafeMutableRawBufferPointer, size: Int) {
        nonce[0] &+= 1
        let bytes = packet.baseAddress!.assumingMemoryBound(to: UInt8.self)
        let header = RTPPacket.headerSize
        _ = bench_open(opening, nonce, bytes, CInt(header), bytes + header, CInt(size - header))
    }

    private static func context(_ isEncrypting: CInt) -> OpaquePointer? {
        let context = EVP_CIPHER_CTX_new()
        let key = (UInt8(0)..<16).map { $0 }
        guard EVP_CipherInit_ex(context, EVP_aes_128_gcm(), nil, key, nil, isEncrypting) == 1 else { fatalError() }
        return context
    }
}
