// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Synchronization

/// The offered and arriving files, and the last ones whose transfers have ended.
final class FileTable: Sendable {
    /// The identity of one transfer of a file.
    struct Key: Hashable {
        let sender: KeyFingerprint
        let number: TransferNumber
        let digest: SHA256Digest
    }
    /// The number of finished transfers that are remembered.
    private static let endedCapacity = 64

    fileprivate struct State {
        var files: [Key: FileReception] = [:]
        var order: [Key] = []
        var isOver = false
    }
    private let state = Mutex(State())

    func file(_ key: Key) -> FileReception? { state.withLock { $0.files[key] } }

    /// Returns the reception with this key, and true if it is new.
    /// - Throws: ``TransferError/busy`` if `limit` files from the member are offered or arriving; ``TransferError/ended`` after
    ///   ``endAll()``.
    func file(
        _ key: Key, from member: MemberID, atMost limit: Int, _ make: () -> FileReception
    ) throws -> (file: FileReception, isNew: Bool) {
        try state.withLock { state in
            guard !state.isOver else { throw TransferError.ended }
            if let file = state.files[key] { return (file, false) }
            guard state.files.values.count(where: { $0.member == member && !$0.isOver }) < limit else {
                throw TransferError.busy
            }
            let endedKeys = state.order.filter { state.files[$0]?.isOver ?? true }
            for old in endedKeys.prefix(max(0, endedKeys.count - Self.endedCapacity)) { state.forget(old) }
            let file = make()
            state.files[key] = file
            state.order.append(key)
            return (file, true)
        }
    }

    /// Returns the unfinished receptions from previous processes of the sender.
    func earlier(than key: Key) -> [FileReception] {
        state.withLock { state in
            state.files.filter {
                $0.key.sender == key.sender && $0.key.number.epoch != key.number.epoch && !$0.value.isOver
            }
            .map(\.value)
        }
    }

    /// Returns other accepted receptions of the same file that wait for their senders to continue.
    func waiting(for digest: SHA256Digest, besides file: FileReception) -> [FileReception] {
        state.withLock {
            $0.files.filter { $0.key.digest == digest && $0.value !== file && $0.value.isWaiting }.map(\.value)
        }
    }

    func forget(_ key: Key) { state.withLock { $0.forget(key) } }

    func end(with member: MemberID) {
        for file in state.withLock({ $0.files.values.filter { $0.member == member } }) { file.fail(.gone) }
    }

    func endAll() {
        let files = state.withLock { state in
            state.isOver = true
            return Array(state.files.values)
        }
        for file in files { file.fail(.ended) }
    }
}

extension FileTable.State {
    fileprivate mutating func forget(_ key: FileTable.Key) {
        files[key] = nil
        order.removeAll { $0 == key }
    }
}
