// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Synchronization

/// A file that is being sent to members of the room. The transfer continues if this object is released. Any task.
public final class OutgoingFile: Sendable {
    private static let progressInterval = Duration.milliseconds(100)

    /// The file's name for the receivers.
    public let name: String
    /// The size in bytes.
    public let size: Int64
    /// The progress with each member, sorted by the member's number; at most ten times a second, for one reader. It ends with the
    /// transfer.
    public let progress: AsyncStream<[FileProgress]>
    private let members: [MemberID]
    private let outcome: Outcome<[MemberID: TransferError]>
    private let task: Task<Void, Never>

    init(_ source: SourceFile, to members: [MemberID], by transfers: Transfers) {
        name = source.name
        size = source.size
        self.members = members
        let outcome = Outcome<[MemberID: TransferError]>()
        self.outcome = outcome
        let (progress, shown) = AsyncStream.makeStream(of: [FileProgress].self, bufferingPolicy: .bufferingNewest(1))
        self.progress = progress
        let board = ProgressBoard(members, size: source.size)
        task = Task {
            let ticker = Task {
                while !Task.isCancelled {
                    if let change = board.changedProgress(at: .now) { shown.yield(change) }
                    try? await Task.sleep(for: Self.progressInterval)
                }
            }
            let reasons = await Self.send(source, to: members, by: transfers, board)
            ticker.cancel()
            await ticker.value
            if let change = board.changedProgress(at: .now) { shown.yield(change) }
            shown.finish()
            outcome.set(reasons)
        }
    }

    /// Waits until each member has received and verified the file. If the waiting task is cancelled, the file is cancelled.
    /// - Throws: the members that do not have the file, and the reasons.
    public func finished() async throws(TransferFailure) {
        let reasons: [MemberID: TransferError]
        do {
            reasons = try await withTaskCancellationHandler {
                try await self.outcome.get()
            } onCancel: {
                self.cancel()
            }
        } catch {
            reasons = Dictionary(uniqueKeysWithValues: members.map { ($0, .cancelled) })
        }
        if !reasons.isEmpty { throw TransferFailure(reasons) }
    }

    /// Cancels the transfer to members that do not have it yet.
    public func cancel() { task.cancel() }

    private static func send(
        _ source: SourceFile, to members: [MemberID], by transfers: Transfers, _ board: ProgressBoard
    ) async -> [MemberID: TransferError] {
        let digest: SHA256Digest
        do {
            digest = try await source.hash { board.set($0, for: members) }
        } catch {
            for member in members { board.begin(.failed, at: 0, for: member) }
            return Dictionary(uniqueKeysWithValues: members.map { ($0, TransferError(error)) })
        }
        return await withTaskGroup(of: (MemberID, TransferError?).self) { group in
            for member in members {
                group.addTask {
                    let sending = FileSending(source, digest, to: member, by: transfers, board)
                    return (member, await sending.run())
                }
            }
            var reasons: [MemberID: TransferError] = [:]
            for await (member, error) in group { reasons[member] = error }
            return reasons
        }
    }
}

/// Collects the progress of a file with several members.
final class ProgressBoard: Sendable {
    private struct State {
        var meters: [MemberID: ProgressMeter]
        var lastProgress: [FileProgress] = []
    }
    private let members: [MemberID]
    private let state: Mutex<State>

    init(_ members: [MemberID], size: Int64) {
        self.members = members
        let now = ContinuousClock.now
        state = Mutex(
            State(
                meters: Dictionary(
                    uniqueKeysWithValues: members.map { member in
                        var meter = ProgressMeter(FileProgress(member, size: size, phase: .hashing))
                        meter.begin(.hashing, at: 0, now)
                        return (member, meter)
                    })))
    }

    func begin(_ phase: FileProgress.Phase, at bytes: Int64? = nil, for member: MemberID) {
        state.withLock { state in
            let bytes = bytes ?? state.meters[member]?.progress.bytes ?? 0
            state.meters[member]?.begin(phase, at: bytes, .now)
        }
    }

    func set(_ bytes: Int64, for members: [MemberID]) {
        state.withLock { state in
            for member in members { state.meters[member]?.set(bytes) }
        }
    }

    /// Returns the progress with each member; nil if nothing has changed since the last call.
    func changedProgress(at time: ContinuousClock.Instant) -> [FileProgress]? {
        state.withLock { state in
            let currentProgress = members.compactMap { state.meters[$0]?.reading(at: time) }
            guard currentProgress != state.lastProgress else { return nil }
            state.lastProgress = currentProgress
            return currentProgress
        }
    }
}
