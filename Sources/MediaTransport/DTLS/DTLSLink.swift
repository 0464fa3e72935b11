// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import Glibc

/// OpenSSL's network in memory: at most one received record that OpenSSL may read, and the datagrams that OpenSSL wrote, until
/// they are sent.
///
/// OpenSSL writes each datagram in one call; a memory BIO would join them.
@safe final class DTLSLink {
    /// The maximum bytes of all stored datagrams; a flight has about a tenth of that.
    private static let capacity = 32_768

    /// The received record for OpenSSL to read; valid during one call of OpenSSL.
    var incoming = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    var timer = OpenSSLTimer()
    private var outgoing: [UInt8] = []
    private var datagramEnds: [Int] = []

    /// Returns a BIO that reads and writes this link, and must not outlive it; nil if OpenSSL has no memory.
    func makeBIO() -> OpaquePointer? {
        guard let method = unsafe Self.method, let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// Passes the datagrams that OpenSSL wrote to `transmit`, in order, and then forgets them.
    func drain(_ transmit: (UnsafeRawBufferPointer) -> Void) {
        guard !datagramEnds.isEmpty else { return }
        unsafe outgoing.withUnsafeBytes { bytes in
            var start = 0
            for end in datagramEnds {
                unsafe transmit(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                start = end
            }
        }
        outgoing.removeAll(keepingCapacity: true)
        datagramEnds.removeAll(keepingCapacity: true)
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard unsafe !incoming.isEmpty else { return nil }
        let count = unsafe min(buffer.count, incoming.count)
        unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: incoming[..<count]))
        unsafe incoming = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        return count
    }

    private func write(_ datagram: UnsafeRawBufferPointer) {
        guard outgoing.count + datagram.count <= Self.capacity else { return }  // dropped, as a network might
        unsafe outgoing.append(contentsOf: datagram)
        datagramEnds.append(outgoing.count)
    }

    private static func link(of bio: OpaquePointer?) -> DTLSLink {
        unsafe Unmanaged<DTLSLink>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
    }

    // A BIO_METHOD is immutable after its creation, so threads may share it.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "Earshot's datagrams") else {
            return nil
        }
        unsafe BIO_meth_set_read(method) { bio, buffer, capacity in
            let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(capacity))
            unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            if let count = unsafe DTLSLink.link(of: bio).read(into: room) { return CInt(count) }
            unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
        unsafe BIO_meth_set_write(method) { bio, bytes, count in
            unsafe BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            unsafe DTLSLink.link(of: bio).write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        unsafe BIO_meth_set_ctrl(method) { bio, command, _, argument in
            switch command {
            case BIO_CTRL_FLUSH: return 1
            case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
                if let argument = unsafe argument {
                    unsafe DTLSLink.link(of: bio).timer.shown(argument.assumingMemoryBound(to: timeval.self))
                }
                return 1
            default: return 0
            }
        }
        return unsafe method
    }()
}
