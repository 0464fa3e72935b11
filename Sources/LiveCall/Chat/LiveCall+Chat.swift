import AudioBase
import Nearby
import Rooms

/// Messages and files.
extension LiveCall {
    /// The time that a message of a participant waits until the participant is in the snapshot.
    private static let introductionTimeout = Duration.seconds(1)

    /// Begins to send a file to participants. It returns when the file's hash is known.
    /// - Throws: the reason why the file cannot be read.
    public func sendFile(at path: String, to participants: [MemberID]) async throws(TransferError) -> OutgoingFile {
        try await room.sendFile(at: path, to: participants)
    }

    // MARK: Sending

    /// The outbox of a participant. It reports losses, and the number of messages that wait.
    func outbox(to id: MemberID, _ state: inout State) -> MessageOutbox {
        if let outbox = state.outboxes[id] { return outbox }
        let outbox = MessageOutbox { [room] text in
            do throws(TransferFailure) {
                try await room.send(Array(text.utf8), to: [id])
                return nil
            } catch {
                return error.reasons[id].map { "\($0)" } ?? "\(error)"
            }
        } reportLoss: { [weak self] count, reason in
            if count > 0 { self?.handle(.messagesLost(to: id, count: count, reason: reason)) }
            self?.countUnsentMessages()
        }
        state.outboxes[id] = outbox
        return outbox
    }

    private func countUnsentMessages() {
        // Counted under the lock, under which messages are enqueued too.
        process { state, now in
            let count = state.outboxes.values.map(\.count).reduce(0, +)
            return state.core.handle(.unsentMessages(count), at: now)
        }
    }

    func sendInBackground(_ transfer: FileTransfer, _ path: String, _ participants: [Participant]) {
        var transfer = transfer
        Task { [self] in
            do {
                let file = try await room.sendFile(at: path, to: participants.map(\.id))
                (transfer.name, transfer.byteCount) = (file.name, file.size)
                try await file.finished()
                transfer.state = .sent
            } catch let error as TransferFailure {
                transfer.state = .undelivered(
                    error.reasons.sorted { $0.key < $1.key }.map { id, reason in
                        let name = participants.first { $0.id == id }?.name.text
                        return .init(name: name ?? "somebody", reason: "\(reason)")
                    })
            } catch {
                transfer.state = .failed("\(error)")
            }
            handle(.transfer(transfer))
        }
    }

    // MARK: Receiving

    /// Until the room is closed.
    func receiveArrivals() async {
        await withDiscardingTaskGroup { group in
            while let arrival = try? await room.arrivals.next() {
                switch arrival {
                case .message(let bytes, from: let id):
                    let name = await introducedName(of: id)
                    handle(
                        .message(
                            Message(
                                sender: id, senderName: name, text: String(validating: bytes, as: UTF8.self),
                                byteCount: bytes.count)))
                case .stream(let stream, from: let id):
                    stream.cancel()
                    handle(.streamRefused(from: await introducedName(of: id), stream: "\(stream.name)"))
                case .file(let file, from: let id):
                    group.addTask { await self.receive(file, from: id) }
                }
            }
        }
    }

    /// The name of a participant. A message can arrive before the roster that has its sender.
    private func introducedName(of id: MemberID) async -> PeerName? {
        let end = ContinuousClock.now + Self.introductionTimeout
        while ContinuousClock.now < end {
            if let name = state.withLock({ $0.names[id] }) { return name }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    private func receive(_ file: IncomingFile, from id: MemberID) async {
        let number = state.withLock { $0.core.nextTransferID() }
        var transfer = FileTransfer(
            id: number, name: file.name, byteCount: file.size, sender: await introducedName(of: id), state: .receiving)
        guard let folder = configuration.receivedFilesFolder else {
            file.decline()
            transfer.state = .declined
            return handle(.transfer(transfer))
        }
        do {
            try await file.accept(into: folder)
            handle(.transfer(transfer))
            transfer.state = .received(path: try await file.finished())
        } catch {
            transfer.state = .failed("\(error)")
        }
        handle(.transfer(transfer))
    }
}
