// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

/// A file that is received over http or https, and taken up where it was when the connection is lost. For one thread at a time.
package final class FileDownload {
    /// The reason that a file was not received.
    package enum Failure: Error, Equatable, Sendable {
        case stream(AudioStreamError)
        /// The address is that of a live stream, which has no end.
        case endless(address: String)
        /// The file has more bytes than the limit.
        case tooLarge(address: String, limit: Int64)
        /// The file cannot be written; an errno.
        case file(path: String, code: Int32)
    }

    /// Seconds without a byte after which the connection counts as lost.
    private static let stallTime = 15.0
    /// The attempts in a row that receive nothing.
    private static let attemptLimit = 4
    /// Seconds until the next attempt.
    private static let retryTime = 1.0

    /// The bytes that were received.
    package private(set) var byteCount: Int64 = 0
    /// The bytes of the whole file; nil while unknown.
    package private(set) var totalByteCount: Int64?
    /// The last part of the address, after redirects. It comes from a stranger: a file needs a cleaned name.
    package private(set) var suggestedName: String

    private let address: StreamAddress
    private let path: String
    private let descriptor: Int32
    private let limit: Int64
    private let options: AudioStreamOptions
    private var transfer: HTTPTransfer?
    /// The version of the file at the server, by its ETag or its date; nil if the server tells neither.
    private var version: String?
    private var failure: Failure?
    /// True if the server sends a part of another version.
    private var isOutdated = false
    /// The attempts in a row without a byte.
    private var attempts = 0
    /// The time of the last byte, or of the last attempt's beginning; nil before the first attempt.
    private var lastTime: HostTime?
    /// The time of the next attempt; nil while one runs.
    private var retry: HostTime?
    private var now = HostTime(nanoseconds: 0)

    /// Creates the file, readable by its owner only.
    /// - Parameters:
    ///   - path: the path of a file that does not exist.
    ///   - limit: the greatest number of bytes.
    package init(
        _ address: String, to path: String, limit: Int64, options: AudioStreamOptions = AudioStreamOptions()
    ) throws(Failure) {
        do throws(AudioStreamError) { self.address = try StreamAddress(address) } catch { throw .stream(error) }
        (self.path, self.limit, self.options) = (path, limit, options)
        suggestedName = Self.name(address)
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path: path, code: errno) }
    }

    deinit { close(descriptor) }

    /// Receives for about a tenth of a second, at most 16 KiB at a time.
    /// - Returns: true once the file is complete.
    package func work(at now: HostTime) throws(Failure) -> Bool {
        self.now = now
        if let retry {
            guard now >= retry else {
                usleep(20_000)
                return false
            }
            self.retry = nil
        }
        let transfer: HTTPTransfer
        if let present = self.transfer { transfer = present } else { transfer = try begin() }
        self.transfer = transfer
        let ending = transfer.work(milliseconds: 100)
        if let failure { throw failure }
        if isOutdated {
            isOutdated = false
            try lose("the file at the server changes again and again")
            return false
        }
        switch ending {
        case .complete?: return true
        case .failed(let error)?: throw .stream(error)
        case .broken(let reason)?: try lose(reason)
        case nil:
            if now.seconds(since: lastTime ?? now) > Self.stallTime { try lose("no data for \(Int(Self.stallTime)) s") }
        }
        return false
    }

    private func begin() throws(Failure) -> HTTPTransfer {
        lastTime = now
        do throws(AudioStreamError) {
            return try HTTPTransfer(address, offset: Int(byteCount), options: options) { [unowned self] head in
                receive(head)
            } body: { [unowned self] bytes in
                receive(bytes)
                return true
            }
        } catch {
            throw .stream(error)
        }
    }

    private func lose(_ reason: String) throws(Failure) {
        transfer = nil
        attempts += 1
        guard attempts < Self.attemptLimit else {
            throw .stream(.unreachable(address: address.description, reason: reason))
        }
        retry = now.advanced(bySeconds: Self.retryTime)
    }

    private func receive(_ head: HTTPHead) {
        guard head.status == 200 || head.status == 206 else {
            failure = .stream(.refused(status: head.status, address: address.description))
            return
        }
        if head.isLive { failure = .endless(address: address.description) }
        let newVersion = head.fields["etag"] ?? head.fields["last-modified"]
        if byteCount > 0, head.status == 200 || newVersion != version || head.firstByte.map(Int64.init) != byteCount {
            startAgain()
            isOutdated = head.status == 206
        }
        version = newVersion
        suggestedName = Self.name(head.address)
        totalByteCount = head.byteCount.map(Int64.init)
        if let totalByteCount, totalByteCount > limit { failTooLarge() }
    }

    /// Forgets what was received, since the server sends the whole file, or a part of another version.
    private func startAgain() {
        byteCount = 0
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            failure = .file(path: path, code: errno)
            return
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, !isOutdated else { return }
        guard byteCount + Int64(bytes.count) <= limit else { return failTooLarge() }
        var written = 0
        while written < bytes.count {
            let count = write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            guard count > 0 else {
                failure = .file(path: path, code: count == 0 ? EIO : errno)
                return
            }
            written += count
        }
        byteCount += Int64(bytes.count)
        (attempts, lastTime) = (0, now)
    }

    private func failTooLarge() { failure = .tooLarge(address: address.description, limit: limit) }

    private static func name(_ address: String) -> String {
        let last = URLComponents(string: address)?.path.split(separator: "/").last ?? ""
        return String(last)
    }
}
