// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet
import EarshotNearby
import EarshotRooms

/// The sending of the local stem.
extension LiveCall {
    /// The time between two tries to send a stem.
    private static let retryTime = Duration.seconds(5)
    /// The tries to send a stem to a singer.
    private static let tryLimit = 10

    /// Sends the local stem of an attempt to its other singers. A singer who is away does not delay the others.
    func sendStem(_ path: String, of attempt: LiveDuet.Attempt) async {
        let receivers = duet.withLock { duet in
            duet.attempts.first { $0.files.folder == attempt.folder }?.files.receivers ?? []
        }
        await withTaskGroup(of: Void.self) { group in
            for member in receivers {
                group.addTask { [self] in
                    let reason = await sendStem(path, to: member)
                    duet.withLock { duet in
                        if let reason { duet.note(.notSent(name: PathText.fileName(path), to: member, reason)) }
                        duet.update(attempt.folder) { $0.receivers.remove(member) }
                    }
                }
            }
        }
    }

    /// Sends a stem to a singer, again after a failure. Returns the reason of the last failure; nil if the singer has the stem, or
    /// declined it.
    private func sendStem(_ path: String, to member: MemberID) async -> TransferError? {
        var reason: TransferError?
        for number in 1...Self.tryLimit {
            do throws(TransferError) {
                let file = try await room.sendFile(at: path, to: [member])
                do throws(TransferFailure) {
                    try await file.finished()
                    return nil
                } catch { reason = error.reasons[member] }
            } catch { reason = error }
            // A member that declines has the stem, or has left the attempt.
            if reason == nil || reason == .declined { return nil }
            if number == Self.tryLimit || snapshot.ending != nil { break }
            try? await Task.sleep(for: Self.retryTime)
        }
        return reason
    }
}

extension LiveDuet {
    /// Notes the others who sing the present attempt, and those who cannot record it.
    mutating func noteSingers(_ snapshot: LiveCallSnapshot, at now: HostTime) {
        guard let status = core?.status(at: now) else { return }
        let unable = status.singers.filter(\.cannotRecord).map(\.member)
        self[status.attempt]?.unableSingers.formUnion(unable)
        guard self[status.attempt]?.isOver == false else { return }
        for singer in status.singers where singer.hasAgreed && !singer.sings {
            self[status.attempt]?.listeners.insert(singer.member)
        }
        for singer in status.singers where singer.hasAgreed && singer.sings {
            self[status.attempt]?.add(singer: singer.member, key: snapshot[singer.member]?.key)
            self[status.attempt]?.parts[singer.member] = singer.part
        }
    }

    /// Returns the singers of an attempt whose stems are not in its folder.
    func missingSingers(in folder: String) -> Set<MemberID> {
        guard let files = attempts.first(where: { $0.files.folder == folder })?.files else { return [] }
        return files.singers.subtracting(files.stems)
    }
}
