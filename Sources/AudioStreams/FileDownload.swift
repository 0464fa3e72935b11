// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation

/// A file that is received over http or https. A transfer that breaks off is resumed. For one thread at a time.
package final class FileDownload {
    /// The reason that a file was not received.
    package enum Failure: Error, Equatable, Sendable {
        case stream(AudioStreamError)
        /// The address is that of a live stream, which has no end.
        case endless(address: String)
        /// The file has more bytes than the limit.
        case tooLarge(address: String, limit: Int)
        /// The file cannot be written.
        case file(AudioFileError)
    }

    /// Seconds without a byte after which the connection counts as lost.
    private static let stallTimeout = 15.0
    /// The attempts in a row that receive nothing.
    private static let attemptLimit = 4
    /// The versions of the file that the server may send.
    private static let versionLimit = 4
    /// Seconds until the next attempt.
    private static let retryDelay = 1.0

    /// The bytes of the whole file; nil while unknown.
    package private(set) var totalByteCount: Int?
    /// The last part of the address, after redirects. It comes from a stranger.
    package private(set) var suggestedName: String

    private let address: StreamAddress
    private let file: AppendingFile
    private let limit: Int
    private let options: AudioStreamOptions
    private var transfer: HTTPTransfer?
    /// The version of the file at the server, by its ETag or its date; nil if the server tells neither.
    private var version: String?
    private var versionCount = 0
    private var failure: Failure?
    /// True if the server sends a part of another version, which is ignored.
    private var isOutdated = false
    /// The attempts in a row without a byte.
    private var attemptCount = 0
    /// The time of the last byte, or of the beginning of the transfer.
    private var lastReceiptTime = HostTime(nanoseconds: 0)
    /// The time before which no transfer begins; nil without a failed attempt.
    private var retryTime: HostTime?
    private var now = HostTime(nanoseconds: 0)

    /// Creates or truncates the file. A new one is readable by its owner only.
    /// - Parameter limit: the greatest number of bytes.
    package init(
        _ address: String, to path: String, limit: Int, options: AudioStreamOptions = AudioStreamOptions()
    ) throws(Failure) {
        do throws(AudioStreamError) { self.address = try StreamAddress(address) } catch { throw .stream(error) }
        do throws(AudioFileError) { file = try AppendingFile(path: path) } catch { throw .file(error) }
        (self.limit, self.options) = (limit, options)
        suggestedName = Self.lastComponent(of: address)
    }

    /// The address without user name, password, query and fragment.
    package var shownAddress: String { address.description }
    /// The bytes that were received.
    package var byteCount: Int { file.byteCount }

    /// Receives what arrives within about a tenth of a second.
    /// - Returns: true once the file is complete.
    package func work(at now: HostTime) throws(Failure) -> Bool {
        self.now = now
        if let retryTime, now < retryTime {
            Thread.sleep(forTimeInterval: 0.02)
            return false
        }
        let transfer: HTTPTransfer
        if let present = self.transfer { transfer = present } else { transfer = try beginTransfer() }
        let ending = transfer.work(milliseconds: 100)
        if let failure { throw failure }
        if isOutdated {
            isOutdated = false
            try retry(after: "the file changes")
            return false
        }
        switch ending {
        case .complete?:
            do throws(AudioFileError) { try file.close() } catch { throw .file(error) }
            return true
        case .failed(let error)?: throw .stream(error)
        case .broken(let reason)?: try retry(after: reason)
        case nil:
            if now.seconds(since: lastReceiptTime) > Self.stallTimeout {
                try retry(after: "no data for \(Int(Self.stallTimeout)) s")
            }
        }
        return false
    }

    private func beginTransfer() throws(Failure) -> HTTPTransfer {
        lastReceiptTime = now
        do throws(AudioStreamError) {
            let transfer = try HTTPTransfer(address, offset: byteCount, options: options) { [unowned self] head in
                receive(head)
            } body: { [unowned self] bytes in
                receive(bytes)
                return true
            }
            self.transfer = transfer
            return transfer
        } catch {
            throw .stream(error)
        }
    }

    private func retry(after reason: String) throws(Failure) {
        transfer = nil
        attemptCount += 1
        guard attemptCount < Self.attemptLimit, versionCount <= Self.versionLimit else {
            throw .stream(.unreachable(address: address.description, reason: reason))
        }
        retryTime = now.advanced(bySeconds: Self.retryDelay)
    }

    private func receive(_ head: HTTPHead) {
        guard head.status == 200 || head.status == 206 else {
            failure = .stream(.refused(status: head.status, address: address.description))
            return
        }
        if head.isLive { failure = .endless(address: address.description) }
        let newVersion = head.fields["etag"] ?? head.fields["last-modified"]
        if head.status == 200 || newVersion != version || head.firstByte != byteCount {
            // The whole file follows, or a part that does not fit.
            isOutdated = head.status == 206 && byteCount > 0
            file.truncate(to: 0)
            versionCount += 1
        }
        version = newVersion
        suggestedName = Self.lastComponent(of: head.address)
        totalByteCount = head.byteCount
        if let totalByteCount, totalByteCount > limit { refuseSize() }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, !isOutdated else { return }
        guard byteCount + bytes.count <= limit else { return refuseSize() }
        do throws(AudioFileError) { try file.append(bytes) } catch { failure = .file(error) }
        (attemptCount, lastReceiptTime) = (0, now)
    }

    private func refuseSize() { failure = .tooLarge(address: address.description, limit: limit) }

    private static func lastComponent(of address: String) -> String {
        String(URLComponents(string: address)?.path.split(separator: "/").last ?? "")
    }
}
