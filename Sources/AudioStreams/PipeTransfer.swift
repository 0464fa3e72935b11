// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The source of a stream's bytes. For the stream's thread only.
protocol StreamTransfer: AnyObject {
    /// Continues receiving after the stream has refused bytes.
    func resume()
    /// Receives data, waiting for at most `milliseconds`. Returns the end of the transfer; nil while it continues.
    func work(milliseconds: Int) -> HTTPEnding?
}

extension HTTPTransfer: StreamTransfer {}

/// A transfer from a pipe that another program writes to.
final class PipeTransfer: StreamTransfer {
    private let pipe: StreamPipe
    private let name: String
    private let receiveHead: (HTTPHead) -> Void
    private let receiveBody: (UnsafeRawBufferPointer) -> Bool
    private var hasDeliveredHead = false
    private var isPaused = false
    private var pendingBytes: [UInt8] = []  // read from the pipe, and not accepted yet

    init(
        _ pipe: StreamPipe, name: String, head: @escaping (HTTPHead) -> Void,
        body: @escaping (UnsafeRawBufferPointer) -> Bool
    ) {
        (self.pipe, self.name, receiveHead, receiveBody) = (pipe, name, head, body)
    }

    func resume() { isPaused = false }

    func work(milliseconds: Int) -> HTTPEnding? {
        if !hasDeliveredHead {
            hasDeliveredHead = true
            var head = HTTPHead(address: name)
            head.status = 200
            receiveHead(head)
        }
        if isPaused {
            usleep(UInt32(milliseconds) * 1_000)
            return nil
        }
        if pendingBytes.isEmpty {
            switch pipe.read(milliseconds: milliseconds) {
            case .bytes(let bytes): pendingBytes = bytes
            case .nothing: return nil
            case .end: return .complete
            case .failed(let reason): return .failed(.unreachable(address: name, reason: reason))
            }
        }
        if pendingBytes.withUnsafeBytes(receiveBody) { pendingBytes = [] } else { isPaused = true }
        return nil
    }
}

/// The reading end of a pipe, and the bytes already read from it. It outlives the transfers that use it. For one thread at a
/// time.
final class StreamPipe: @unchecked Sendable {
    enum Reading {
        case bytes([UInt8])
        case nothing, end
        case failed(String)
    }
    private let descriptor: CInt
    private var prefix: [UInt8]
    private static let maximumReadLength = 1 << 14

    init(_ descriptor: CInt, prefix: [UInt8]) { (self.descriptor, self.prefix) = (descriptor, prefix) }

    func read(milliseconds: Int) -> Reading {
        if !prefix.isEmpty {
            defer { prefix = [] }
            return .bytes(prefix)
        }
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, CInt(milliseconds)) > 0 else { return .nothing }
        var bytes = [UInt8](repeating: 0, count: Self.maximumReadLength)
        let count = Foundation.read(descriptor, &bytes, bytes.count)
        if count < 0 { return errno == EINTR || errno == EAGAIN ? .nothing : .failed(String(cString: strerror(errno))) }
        return count == 0 ? .end : .bytes(Array(bytes[..<count]))
    }
}
