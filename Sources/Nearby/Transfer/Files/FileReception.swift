// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// The reception of one file, over one or more requests.
final class FileReception: Sendable {
    /// The bytes that are written to the disk together.
    private static let batchSize = 262_144
    private static let progressInterval = Duration.milliseconds(100)

    let member: MemberID
    let name: String
    let size: Int64
    let digest: SHA256Digest
    let progress: AsyncStream<FileProgress>
    private let shown: AsyncStream<FileProgress>.Continuation
    /// True if the file was accepted, false if it was declined or the reception has ended; not set before.
    private let decision = Outcome<Bool>()
    private let outcome = Outcome<Result<String, TransferError>>()
    private let latestRequest = Latest()
    private let limits: TransferLimits
    /// Ends other receptions of the same file that wait for their sender.
    private let makeRoom: @Sendable (FileReception) async -> Void
    private let state: Mutex<State>

    private struct State {
        var part: ResumableFile?
        /// True if bytes of an earlier transfer may cause a wrong hash; a new transfer may then succeed.
        var canRestart = false
        var isDelivered = false
        var isReleased = false
        var requestCount = 0
        var heardAt = ContinuousClock.now
        var meter: ProgressMeter
        var lastShown: FileProgress?
    }

    init(
        _ offer: FileOffer, _ digest: SHA256Digest, from member: MemberID, _ limits: TransferLimits,
        makeRoom: @escaping @Sendable (FileReception) async -> Void
    ) {
        self.makeRoom = makeRoom
        self.member = member
        self.digest = digest
        self.limits = limits
        size = offer.size
        name = FileName.safe(offer.name)
        state = Mutex(State(meter: ProgressMeter(FileProgress(member, size: offer.size, phase: .offered))))
        (progress, shown) = AsyncStream.makeStream(of: FileProgress.self, bufferingPolicy: .bufferingNewest(1))
        Task {
            while self.outcome.value == nil {
                self.show()
                try? await Task.sleep(for: Self.progressInterval)
                self.giveUpIfSilent()
            }
            self.show()
            self.shown.finish()
        }
    }

    var isOver: Bool { outcome.value != nil }

    /// True if the accepted file waits for its sender to continue.
    var isWaiting: Bool { state.withLock { $0.part != nil && $0.requestCount == 0 } }

    /// Ends this reception because another sender, or another process of the same sender, continues the file.
    func endForSuccessor() async {
        fail(.withdrawn)
        // Wait for the end of the request that writes to the file.
        try? await latestRequest.run {}
    }

    // MARK: The application

    func accept(into folder: String) async throws(TransferError) {
        do {
            await makeRoom(self)
            let (name, digest, size) = (name, digest, size)
            let part = try await NIOThreadPool.singleton.runIfActive {
                try ResumableFile(in: folder, name: name, digest: digest, size: size)
            }
            let isFirst = state.withLock { state in
                guard state.part == nil, !isOver else { return false }
                state.part = part
                state.canRestart = part.count > 0
                state.heardAt = .now
                state.meter.begin(.reconnecting, at: part.count, .now)
                return true
            }
            if case .failure(let error)? = outcome.value { throw error }
            guard isFirst else { throw TransferError.alreadyArriving(folder) }
            decision.set(true)
        } catch {
            throw TransferError(error)
        }
    }

    func decline() {
        let part = state.withLock { $0.part }
        fail(.declined)
        Task {
            try? await latestRequest.run {}
            part?.discard()
        }
    }

    func finished() async throws(TransferError) -> String {
        let result: Result<String, TransferError>
        do { result = try await outcome.get() } catch { throw TransferError(error) }
        return try result.get()
    }

    /// Handles the release of the application's ``IncomingFile``.
    func handleRelease() {
        state.withLock { $0.isReleased = true }
        declineIfUnwanted()
    }

    /// Notes that the application received the offer.
    func delivered() {
        state.withLock { $0.isDelivered = true }
        declineIfUnwanted()
    }

    private func declineIfUnwanted() {
        let isUnwanted = state.withLock { $0.isDelivered && $0.isReleased }
        if isUnwanted, decision.value == nil { fail(.declined) }
    }

    /// Ends the reception with an error.
    func fail(_ error: TransferError) { end(.failure(error)) }

    private func end(_ result: Result<String, TransferError>) {
        state.withLock { state in
            state.part = nil
            guard !isOver else { return }
            switch result {
            case .success: state.meter.begin(.done, at: size, .now)
            case .failure: state.meter.begin(.failed, at: state.meter.progress.bytes, .now)
            }
        }
        outcome.set(result)
        decision.set(false)
        latestRequest.cancel()
    }

    // MARK: The sender

    /// Returns the answer to the offer when the file is accepted, when the reception has ended, or after
    /// ``TransferLimits/offerHold``.
    func answer() async throws -> HTTPResponse {
        try await heard {
            let isDecided: Bool? = try await within(self.limits.offerHold) { try await self.decision.get() }
            switch self.outcome.value {
            case .success?: return .json(FileState(have: self.size, done: true).bytes)
            case .failure(let error)?: throw error
            case nil: break
            }
            guard isDecided != nil else { return HTTPResponse(status: .accepted) }
            // Only the writing task may read `part.count`.
            let have = self.state.withLock { $0.part == nil ? 0 : $0.meter.progress.bytes }
            return .json(FileState(have: have).bytes)
        }
    }

    /// Receives the file's bytes in a request `PUT`.
    func receive(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard
            let offset = request.headers.first(name: "earshot-offset").flatMap({ TransferNumber.number(Array($0.utf8)) }
            )
        else { throw TransferError.malformed("it has no field 'Earshot-Offset' with a number") }
        return try await heard {
            try await self.latestRequest.run {
                if case .failure(let error)? = self.outcome.value { throw error }
                if self.isOver { return HTTPResponse(status: .noContent) }
                guard let part = self.state.withLock({ $0.part }) else { throw TransferError.withdrawn }
                guard offset == part.count else {
                    throw HTTPProblem(status: .conflict, code: "wrong-offset", message: "\(part.count) bytes are here")
                }
                return try await self.receiveBody(request.body, into: part)
            }
        }
    }

    private func receiveBody(_ body: HTTPBody, into part: ResumableFile) async throws -> HTTPResponse {
        state.withLock { $0.meter.begin(.moving, at: part.count, .now) }
        do {
            var batch = ByteBuffer()
            for try await var piece in body {
                guard part.count + Int64(batch.readableBytes + piece.readableBytes) <= size else {
                    throw TransferError.malformed("there are more bytes than the offer says")
                }
                batch.writeBuffer(&piece)
                guard batch.readableBytes >= Self.batchSize else { continue }
                try await write(batch, to: part)
                batch.clear()
            }
            if batch.readableBytes > 0 { try await write(batch, to: part) }
            guard part.count == size else { throw TransferError.cut }
            let name = name
            let path = try await NIOThreadPool.singleton.runIfActive { try part.finish(as: name) }
            end(.success(path))
            return HTTPResponse(status: .noContent)
        } catch let error as TransferError {
            try handleFailure(error, part)
        } catch {
            state.withLock { $0.meter.begin(.reconnecting, at: part.count, .now) }
            throw error
        }
    }

    /// Handles an error that ended a request: ends the reception, unless the sender may continue. Throws the error in either
    /// case.
    private func handleFailure(_ error: TransferError, _ part: ResumableFile) throws -> Never {
        let continues = state.withLock { state in
            switch error {
            case .cut: break
            case .damaged where state.canRestart: state.canRestart = false
            default: return false
            }
            state.meter.begin(.reconnecting, at: part.count, .now)
            return true
        }
        if !continues {
            if error == .damaged { part.discard() }
            fail(error)
        }
        throw error
    }

    private func write(_ batch: ByteBuffer, to part: ResumableFile) async throws {
        try await NIOThreadPool.singleton.runIfActive { try part.append(batch) }
        state.withLock { $0.meter.set(part.count) }
    }

    private func heard<Result>(_ body: () async throws -> Result) async throws -> Result {
        state.withLock { $0.requestCount += 1 }
        defer {
            state.withLock { state in
                state.requestCount -= 1
                state.heardAt = .now
            }
        }
        return try await body()
    }

    private func giveUpIfSilent() {
        let isSilent = state.withLock { $0.requestCount == 0 && ContinuousClock.now - $0.heardAt > limits.fileSilence }
        if isSilent { fail(decision.value == nil ? .withdrawn : .cut) }
    }

    private func show() {
        let change = state.withLock { state -> FileProgress? in
            let reading = state.meter.reading(at: .now)
            guard reading != state.lastShown else { return nil }
            state.lastShown = reading
            return reading
        }
        if let change { shown.yield(change) }
    }
}

extension HTTPResponse {
    fileprivate static func json(_ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(headers: ["Content-Type": "application/json"], content: .bytes(body))
    }
}
