// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotNearby
import EarshotRooms

/// The messages and files of a call.
extension LiveCall {
    /// The maximum time that an arrival waits until its sender's name is known.
    private static let introductionTimeout = Duration.seconds(1)
    /// The events by which a polling interface may lag before arrivals wait.
    private static let lagLimit: UInt64 = 64

    /// Starts sending a file to participants. Returns when the file's hash is known.
    /// - Throws: the reason that the file cannot be read.
    package func sendFile(at path: String, to participants: [MemberID]) async throws(TransferError) -> OutgoingFile {
        try await room.sendFile(at: path, to: participants)
    }

    // MARK: Sending

    /// Returns the outbox of a participant, a new one if necessary. The outbox reports lost and delivered messages to the core.
    func outbox(to participant: Participant, _ state: inout State) -> MessageOutbox {
        let id = participant.id
        if let outbox = state.outboxes[id] { return outbox }
        let outbox = MessageOutbox { [room] text in
            do throws(TransferFailure) {
                try await room.send(Array(text.utf8), to: [id])
                return nil
            } catch {
                return error.reasons[id].map { "\($0)" } ?? "\(error)"
            }
        } reportLoss: { [weak self] count, reason in
            self?.handle(.messagesLost(to: participant.name, count: count, reason: reason))
        } onDelivery: { [weak self] in
            self?.countUnsentMessages()
        }
        state.outboxes[id] = outbox
        return outbox
    }

    private func countUnsentMessages() {
        // Count under the lock under which messages are enqueued.
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
                handle(.transfer(transfer))
                try await file.finished()
                transfer.state = .sent
            } catch let error as TransferFailure {
                transfer.state = .undelivered(
                    error.reasons.sorted { $0.key < $1.key }.compactMap { id, reason in
                        guard let name = participants.first(where: { $0.id == id })?.name else { return nil }
                        return .init(name: name, reason: reason)
                    })
            } catch let error as TransferError {
                transfer.state = .failed(error)
            } catch {
                transfer.state = .failed(.ended)
            }
            handle(.transfer(transfer))
        }
    }

    // MARK: Receiving

    /// Reads the room's arrivals until the room is closed. A lagging interface delays the reading and, through TCP, the senders.
    static func receiveArrivals(of room: any LiveCallRoom, for call: @escaping @Sendable () -> LiveCall?) async {
        await withDiscardingTaskGroup { group in
            while let arrival = try? await room.arrivals.next() {
                await awaitInterfaces(call)
                guard let call = call() else { return }
                switch arrival {
                case .message(let bytes, from: let id):
                    let text = String(validating: bytes, as: UTF8.self)
                    let name = await call.introducedName(of: id)
                    call.handle(
                        .message(ChatMessage(sender: id, senderName: name, text: text, byteCount: bytes.count)))
                case .stream(let stream, from: let id):
                    stream.cancel()
                    call.handle(.streamRefused(from: await call.introducedName(of: id), stream: "\(stream.name)"))
                case .file(let file, from: let id): group.addTask { await call.receive(file, from: id) }
                }
            }
        }
    }

    /// Waits while a polling interface lags too far behind.
    private static func awaitInterfaces(_ call: @Sendable () -> LiveCall?) async {
        while call()?.isLagging == true, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(20)) }
    }

    /// True if even the fastest polling interface has more than ``lagLimit`` unread events.
    private var isLagging: Bool {
        state.withLock { state in
            guard let seen = state.lastPolledEvent, state.core.snapshot.ending == nil else { return false }
            return (state.history.last?.number ?? 0) > seen + Self.lagLimit
        }
    }

    /// Returns the name of a participant. Waits for the name if necessary, since a message can arrive before the roster with its
    /// sender. Returns nil after ``introductionTimeout``.
    private func introducedName(of id: MemberID) async -> PeerName? {
        let end = ContinuousClock.now + Self.introductionTimeout
        while ContinuousClock.now < end, !Task.isCancelled {
            if let name = name(of: id) { return name }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    private func receive(_ file: IncomingFile, from id: MemberID) async {
        if await receiveForDuet(file, from: id) { return }
        let number = state.withLock { $0.core.nextTransferID() }
        var transfer = FileTransfer(
            id: number, name: file.name, byteCount: file.size, sender: await introducedName(of: id), state: .receiving)
        guard let folder = configuration.receivedFilesFolder else {
            file.decline()
            transfer.state = .declined
            return handle(.transfer(transfer))
        }
        do throws(TransferError) {
            try await file.accept(into: folder)
            handle(.transfer(transfer))
            transfer.state = .received(path: try await file.finished())
        } catch {
            transfer.state = .failed(error)
        }
        handle(.transfer(transfer))
    }
}
