// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOCore
import NIOHTTP1
import Synchronization

/// Sends a file to one member in one or more requests.
struct FileSending: Sendable {
    private static let pieceSize = 262_144
    /// The maximum requests in a row without progress.
    private static let maximumFailedAttempts = 10

    private let source: SourceFile
    private let digest: SHA256Digest
    private let member: MemberID
    private let transfers: Transfers
    private let board: ProgressBoard
    private let number: TransferNumber

    /// The remote peer accepts nothing, or does not answer.
    private struct Stalled: Error {}
    /// The remote peer did not complete the file with the sent bytes, and is asked again which part it has.
    private struct AskAgain: Error {}

    init(
        _ source: SourceFile, _ digest: SHA256Digest, to member: MemberID, by transfers: Transfers,
        _ board: ProgressBoard
    ) {
        self.source = source
        self.digest = digest
        self.member = member
        self.transfers = transfers
        self.board = board
        number = transfers.nextNumber()
    }

    /// Sends the file. Returns nil when the member has it, or the error.
    func run() async -> TransferError? {
        do {
            try await transfers.transferTasks.run(with: member) { try await self.send() }
            board.begin(.done, at: source.size, for: member)
            return nil
        } catch {
            let reason = TransferError(error)
            board.begin(.failed, for: member)
            switch reason {
            case .cancelled, .changed, .unreadable: await withdraw()
            default: break
            }
            return reason
        }
    }

    private func send() async throws {
        board.begin(.offered, at: 0, for: member)
        var backoff = RetryBackoff(transfers.limits.retryTimeout)
        var unknownKeyBackoff = RetryBackoff(transfers.limits.rosterGracePeriod)
        var failedAttempts = 0
        var mostReceived: Int64 = -1
        while true {
            let client = try await transfers.client(of: member)
            let state: FileState?
            do {
                state = try await offer(by: client)
                backoff.succeeded()
                unknownKeyBackoff.succeeded()
            } catch let error as TransferError where error.isOfOlderRoster {
                try await unknownKeyBackoff.wait(after: error)
                continue
            } catch {
                if let final = TransferError(final: error) { throw final }
                board.begin(.reconnecting, for: member)
                try await backoff.wait(after: error)
                continue
            }
            guard let state else { continue }
            if state.done == true { return }
            if state.have > mostReceived { (mostReceived, failedAttempts) = (state.have, 0) }
            do {
                return try await put(from: state.have)
            } catch {
                if !(error is AskAgain), let final = TransferError(final: error) { throw final }
                failedAttempts += 1
                guard failedAttempts < Self.maximumFailedAttempts else {
                    throw error is AskAgain ? TransferError.damaged : TransferError(error)
                }
                board.begin(.reconnecting, for: member)
                try await Task.sleep(for: .milliseconds(50 * failedAttempts * failedAttempts))
            }
        }
    }

    /// Offers the file. Returns the receiver's state; nil while it has not decided.
    private func offer(by client: HTTPSClient) async throws -> FileState? {
        let offer = FileOffer(name: source.name, size: source.size)
        let limits = transfers.limits
        do {
            let (head, body) = try await client.send(
                .POST, path, headers: ["Content-Type": "application/json", "Earshot-Number": "\(number)"],
                content: .bytes(offer.bytes), timeout: limits.offerHold + limits.answer)
            switch head.status {
            case .ok: return try FileState(parsing: body, size: source.size)
            case .accepted:
                // A receiver that answers "undecided" at once must not be flooded.
                try await Task.sleep(for: .milliseconds(250))
                return nil
            default: throw TransferError(status: head.status, body: body)
            }
        } catch TransferError.busy {
            try await Task.sleep(for: .milliseconds(500))
            return nil
        }
    }

    /// Sends the bytes of the file from `offset` on. Returns when the receiver has verified the file.
    private func put(from offset: Int64) async throws {
        board.begin(.moving, at: offset, for: member)
        let movement = Movement()
        let limit = transfers.limits.stall
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.request(from: offset) { movement.note() } }
            group.addTask {
                while movement.age < limit { try await Task.sleep(for: limit / 10) }
                throw Stalled()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func request(from offset: Int64, _ hasMoved: @escaping @Sendable () -> Void) async throws {
        let content = HTTPContent.stream { writer in
            try source.checkUnchanged()
            var position = offset
            while position < source.size {
                let piece = try await source.bytes(at: position, count: Self.pieceSize)
                try await writer.write(piece)
                position += Int64(piece.readableBytes)
                board.set(position, for: [member])
                hasMoved()
            }
            try source.checkUnchanged()
        }
        let (head, body) = try await transfers.client(of: member).send(
            .PUT, path,
            headers: [
                "Content-Type": "application/octet-stream", "Earshot-Number": "\(number)",
                "Earshot-Offset": "\(offset)",
            ], content: content, timeout: nil)
        guard head.status != .noContent else { return }
        let error = TransferError(status: head.status, body: body)
        switch error {
        case .withdrawn, .damaged, .cut, .busy, .refused("wrong-offset", _): throw AskAgain()
        default: throw error
        }
    }

    /// Tells the receiver that the file is withdrawn. The receiver has two seconds to answer.
    private func withdraw() async {
        let (transfers, member, path, number) = (transfers, member, path, number)
        // The current task may be cancelled.
        await Task {
            _ = try? await transfers.client(of: member).send(
                .DELETE, path, headers: ["Earshot-Number": "\(number)"], timeout: .seconds(2))
        }.value
    }

    private var path: String { "/files/\(digest.hex)" }
}

/// The time at which the remote peer last accepted bytes.
private final class Movement: Sendable {
    private let lastTime = Mutex(ContinuousClock.now)

    var age: Duration { ContinuousClock.now - lastTime.withLock { $0 } }
    func note() { lastTime.withLock { $0 = .now } }
}
