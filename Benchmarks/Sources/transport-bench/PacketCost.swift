import BenchReports
import CCrypto
import MediaTransport
import PairedTimes

/// What it costs to protect a packet and to open it again, beside AES-128-GCM alone over the same bytes.
struct PacketCost {
    /// Bytes of the packet before it is protected.
    let size: Int
    private static let packets = 4_000

    func reports(_ peers: Peers) throws -> [Report] {
        let stream = try peers.stream()
        let packet = UnsafeMutableRawBufferPointer.allocate(
            byteCount: size + SRTPSession.maximumOverhead, alignment: 16)
        let other = UnsafeMutableRawBufferPointer.allocate(byteCount: size + 16, alignment: 16)
        defer {
            packet.deallocate()
            other.deallocate()
        }
        var number: UInt16 = 1
        let (seal, open) = (context(1), context(0))
        defer {
            EVP_CIPHER_CTX_free(seal)
            EVP_CIPHER_CTX_free(open)
        }
        let bytes = other.baseAddress!.assumingMemoryBound(to: UInt8.self)
        let text = bytes + RTPPacket.headerSize
        let textSize = CInt(size - RTPPacket.headerSize)
        var nonce = [UInt8](repeating: 0, count: 12)
        let times = Paired(repetitions: 61, operations: Self.packets) {
            for _ in 0..<Self.packets {
                RTPPacket(
                    payloadType: 96, marker: false, sequenceNumber: number, timestamp: 0, ssrc: 1,
                    payloadSize: size - RTPPacket.headerSize
                ).writeHeader(into: packet)
                number &+= 1
                guard let count = try? stream.client.protect(packet, count: size),
                    (try? stream.server.unprotect(packet, count: count)) == size
                else { fatalError("a packet was not protected") }
            }
        } theirs: {
            for _ in 0..<Self.packets {
                nonce[0] &+= 1
                guard bench_seal(seal, nonce, bytes, CInt(RTPPacket.headerSize), text, textSize) == 1,
                    bench_open(open, nonce, bytes, CInt(RTPPacket.headerSize), text, textSize) == 1
                else { fatalError("AES-GCM") }
            }
        }
        return [
            Report(
                "\(size) bytes protected and opened", times.ours / 1_000, "µs", .atMost(10),
                against: "5 µs each way; AES-128-GCM of libcrypto alone takes \(decimal(times.theirs / 1_000, 2)) µs"),
            Report("\(size) bytes: times AES-128-GCM alone", times.ratio, "times", against: "libcrypto, in turn"),
        ]
    }

    private func context(_ isEncrypting: CInt) -> OpaquePointer? {
        let context = EVP_CIPHER_CTX_new()
        let key = (UInt8(0)..<16).map { $0 }
        guard EVP_CipherInit_ex(context, EVP_aes_128_gcm(), nil, key, nil, isEncrypting) == 1 else { fatalError() }
        return context
    }
}
