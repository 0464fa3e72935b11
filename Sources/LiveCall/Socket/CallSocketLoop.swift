// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDuet
import EarshotRooms
import Foundation

/// The work of the thread that serves a call's socket. No step blocks, except `poll`.
///
/// The thread owns the descriptors. Tasks that wait for events add lines to the clients' outputs, and wake the thread.
final class CallSocketLoop: Sendable {
    private struct State {
        /// The clients by their numbers, which are never reused.
        var clients: [Int: Client] = [:]
        var lastClientNumber = 0
        var acceptance = RateLimiter(CallSocket.connectionLimit, inSeconds: 1)
        /// The time before which no client is accepted.
        var acceptanceStart = HostTime(nanoseconds: 0)
        /// The time at which the clients that still read are disconnected; nil while the call runs.
        var deadline: HostTime?
    }

    private struct Client {
        let descriptor: CInt
        var connection = CallSocketConnection()
        var watcher: Task<Void, Never>?
    }

    /// A client for which `poll` waits.
    private struct PolledClient: Sendable {
        let number: Int
        let descriptor: CInt
        let events: Int16
    }

    /// The descriptors for which `poll` waits.
    private struct Plan: Sendable {
        let clients: [PolledClient]
        let acceptsClients: Bool
        /// The time limit in milliseconds; -1 for none.
        let timeout: CInt
    }

    /// The seconds without new clients after the system refused one, or after too many.
    private static let acceptancePause = 1.0
    private static let chunkByteCount = 65_536

    let wakeup = Wakeup()
    /// Signalled when all descriptors are closed.
    let ended = DispatchSemaphore(value: 0)
    private let state = LockedValue(State())
    private let call: LiveCall
    private let program: String
    private let listener: CInt
    private let path: String

    /// - Parameters:
    ///   - program: the version of the program, for the clients.
    ///   - listener: a listening socket at `path`.
    init(_ call: LiveCall, program: String, listener: CInt, path: String) {
        self.call = call
        self.program = program
        self.listener = listener
        self.path = path
    }

    /// The number of connected clients.
    var clientCount: Int { state.withLock { $0.clients.count } }

    /// Ends the thread when all clients have their output, at the latest after `seconds`.
    func requestEnd(within seconds: Double) {
        state.withLock { $0.deadline = HostTime.now().advanced(bySeconds: seconds) }
        wakeup.handle.wake()
    }

    /// Closes all descriptors and removes the socket.
    func closeAll() {
        state.withLock { state in
            for number in Array(state.clients.keys) { Self.disconnect(number, &state) }
        }
        UnixSocket.close(listener)
        unlink(path)
        ended.signal()
    }

    // MARK: The thread

    /// Waits for input, for space for output, or for a wake-up, and handles them. Returns nil at the end.
    func work() -> ServiceThread.Pause? {
        guard let plan = makePlan(at: .now()) else {
            closeAll()
            return nil
        }
        var descriptors = [
            pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0),
            // A negative descriptor is ignored.
            pollfd(fd: plan.acceptsClients ? listener : -1, events: Int16(POLLIN), revents: 0),
        ]
        for client in plan.clients {
            descriptors.append(pollfd(fd: client.descriptor, events: client.events, revents: 0))
        }
        guard poll(&descriptors, nfds_t(descriptors.count), plan.timeout) > 0 else { return .milliseconds(0) }
        if descriptors[1].revents != 0 { acceptClient() }
        for (client, descriptor) in zip(plan.clients, descriptors.dropFirst(2)) { serve(client, descriptor.revents) }
        return .milliseconds(0)
    }

    /// Handles the events of `poll` for a client.
    private func serve(_ client: PolledClient, _ ready: Int16) {
        // After a disconnection another file may have the client's descriptor.
        if ready & Int16(POLLOUT) != 0, !send(to: client) { return }
        if ready & Int16(POLLIN) != 0 {
            receive(from: client)
        } else if ready & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 {
            disconnect(client)
        }
    }

    /// Disconnects clients that are over. Returns nil if the thread should end.
    private func makePlan(at now: HostTime) -> Plan? {
        state.withLock { state -> Plan? in
            for (number, client) in state.clients where client.connection.isOver { Self.disconnect(number, &state) }
            if let deadline = state.deadline {
                let isFinished = state.clients.values.allSatisfy {
                    !$0.connection.isWatching && $0.connection.pendingByteCount == 0
                }
                if isFinished || now >= deadline { return nil }
            }
            let clients = state.clients.map { number, client in
                PolledClient(number: number, descriptor: client.descriptor, events: client.connection.events)
            }
            let isPaused = now < state.acceptanceStart
            let end = state.deadline ?? (isPaused ? state.acceptanceStart : nil)
            return Plan(
                clients: clients, acceptsClients: state.deadline == nil && !isPaused,
                timeout: end.map { CInt(clamping: Int(max(0, $0.seconds(since: now)) * 1e3) + 1) } ?? -1)
        }
    }

    private func acceptClient() {
        let descriptor = UnixSocket.accept(listener)
        guard descriptor >= 0 else {
            if ![EAGAIN, EINTR, ECONNABORTED].contains(-descriptor) { pauseAcceptance() }
            return
        }
        guard UnixSocket.user(of: descriptor) == geteuid() else { return UnixSocket.close(descriptor) }
        var hello = CallSocketHello(
            earshot: program, pid: getpid(), room: call.snapshot.room.map { $0.name.text })
        let isFull = state.withLock { $0.clients.count >= CallSocket.clientLimit }
        guard !isFull else {
            hello.error = ErrorDocument.tooManyClients.code
            hello.text = ErrorDocument.tooManyClients.text
            _ = UnixSocket.send(CallJSON.line(hello) + [UInt8(ascii: "\n")], to: descriptor)
            return UnixSocket.close(descriptor)
        }
        var client = Client(descriptor: descriptor)
        _ = client.connection.enqueue(CallJSON.line(hello))
        let isTooFast = state.withLock { state -> Bool in
            state.lastClientNumber += 1
            state.clients[state.lastClientNumber] = client
            return !state.acceptance.acquire(at: .now())
        }
        if isTooFast { pauseAcceptance() }
    }

    private func pauseAcceptance() {
        state.withLock { $0.acceptanceStart = HostTime.now().advanced(bySeconds: Self.acceptancePause) }
    }

    private func receive(from client: PolledClient) {
        var bytes = [UInt8](repeating: 0, count: Self.chunkByteCount)
        let count = UnixSocket.receive(from: client.descriptor, into: &bytes)
        guard count >= 0 else {
            if !UnixSocket.isTemporary(count) { disconnect(client) }
            return
        }
        let received = bytes[..<count]
        let inputs = state.withLock { state -> [CallSocketConnection.Input] in
            guard !received.isEmpty else {
                state.clients[client.number]?.connection.endInput()
                return []
            }
            return state.clients[client.number]?.connection.receive(received, at: .now()) ?? []
        }
        for input in inputs {
            switch input {
            case .line(let line): answer(line, to: client.number)
            case .refused(let error): reply(CallSocketAnswer(error), to: client.number)
            }
        }
    }

    /// Sends pending output. Returns false if the client was disconnected.
    private func send(to client: PolledClient) -> Bool {
        let bytes = state.withLock {
            $0.clients[client.number]?.connection.nextOutput(limit: Self.chunkByteCount) ?? []
        }
        guard !bytes.isEmpty else { return true }
        let count = UnixSocket.send(bytes, to: client.descriptor)
        guard count >= 0 else {
            if UnixSocket.isTemporary(count) { return true }
            disconnect(client)
            return false
        }
        state.withLock { $0.clients[client.number]?.connection.removeOutput(count) }
        return true
    }

    private func disconnect(_ client: PolledClient) {
        state.withLock { Self.disconnect(client.number, &$0) }
    }

    private static func disconnect(_ number: Int, _ state: inout State) {
        guard let client = state.clients.removeValue(forKey: number) else { return }
        client.watcher?.cancel()
        UnixSocket.close(client.descriptor)
    }

    // MARK: Requests

    private func answer(_ line: [UInt8], to number: Int) {
        do throws(ErrorDocument) {
            switch try CallSocketRequest(parsing: line) {
            case .status: reply(CallSocketAnswer(status: call.status(program: program)), to: number)
            case .watch(let event):
                let last = call.lastEventNumber
                try watch(after: min(event ?? last, last), number)
            case .perform(let command):
                try perform(command)
                reply(CallSocketAnswer(), to: number)
            case .controlDuet(let order):
                do throws(DuetRefusal) { try call.perform(order) } catch { throw ErrorDocument(error) }
                reply(CallSocketAnswer(), to: number)
            }
        } catch {
            reply(CallSocketAnswer(error), to: number)
            if error.isOtherProtocol { state.withLock { $0.clients[number]?.connection.end() } }
        }
    }

    private func perform(_ command: LiveCallCommand) throws(ErrorDocument) {
        do throws(CommandRefusal) {
            try call.perform(command)
        } catch {
            throw ErrorDocument(error)
        }
    }

    /// Sends the events after a number to a client, until the call or the client ends.
    private func watch(after event: UInt64, _ number: Int) throws(ErrorDocument) {
        let isNew = state.withLock { $0.clients[number]?.connection.beginWatching() ?? false }
        guard isNew else { throw .alreadyWatching }
        reply(CallSocketAnswer(lastEvent: event), to: number)
        let events = call.events(after: event)
        let watcher = Task { [weak self] in
            for await event in events {
                guard let loop = self, loop.enqueue(CallJSON.line(EventDocument(event)), to: number) else { break }
                loop.wakeup.handle.wake()
            }
            self?.endWatching(number)
        }
        state.withLock { $0.clients[number]?.watcher = watcher }
    }

    private func endWatching(_ number: Int) {
        state.withLock { $0.clients[number]?.connection.endWatching() }
        wakeup.handle.wake()
    }

    private func reply(_ answer: CallSocketAnswer, to number: Int) { _ = enqueue(CallJSON.line(answer), to: number) }

    /// Adds a line to a client's output. Returns false if the client is gone or reads too slowly.
    private func enqueue(_ line: [UInt8], to number: Int) -> Bool {
        state.withLock { $0.clients[number]?.connection.enqueue(line) ?? false }
    }
}

extension CallSocketConnection {
    /// The events for which `poll` waits.
    fileprivate var events: Int16 {
        Int16((isInputOver ? 0 : POLLIN) | (pendingByteCount > 0 ? POLLOUT : 0))
    }
}
