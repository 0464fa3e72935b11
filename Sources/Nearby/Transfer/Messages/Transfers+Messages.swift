// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOHTTP1

extension Transfers {
    /// Sends a message to each member, in the order of the calls. Returns when each has received it, exactly once.
    /// - Parameter bytes: the message, 1 to 65,536 bytes.
    /// - Throws: the members that did not get the message, and the reasons. A member whose connection ended at the last moment
    ///   may have received it.
    func send(_ bytes: [UInt8], to members: some Sequence<MemberID>) async throws(TransferFailure) {
        let members = Set(members)
        let reasons = await withTaskGroup(of: (MemberID, TransferError?).self) { group in
            for member in members {
                group.addTask { (member, await self.send(bytes, to: member)) }
            }
            var reasons: [MemberID: TransferError] = [:]
            for await (member, error) in group { reasons[member] = error }
            return reasons
        }
        if !reasons.isEmpty { throw TransferFailure(reasons) }
    }

    private func send(_ bytes: [UInt8], to member: MemberID) async -> TransferError? {
        guard !bytes.isEmpty else { return .empty }
        guard bytes.count <= TransferLimits.messageSize else { return .tooLong(limit: TransferLimits.messageSize) }
        do {
            try await gate(of: member).run {
                let number = self.nextNumber()
                try await self.transferTasks.run(with: member) { try await self.post(bytes, number, to: member) }
            }
            return nil
        } catch {
            return TransferError(error)
        }
    }

    /// Sends a message again until it arrives, at most for ``TransferLimits/retryTimeout``. The receiver drops repetitions.
    private func post(_ bytes: [UInt8], _ number: TransferNumber, to member: MemberID) async throws {
        var backoff = RetryBackoff(limits.retryTimeout)
        var unknownKeyBackoff = RetryBackoff(limits.rosterGracePeriod)
        while true {
            let client = try await client(of: member)
            do {
                let (head, body) = try await client.send(
                    .POST, "/messages",
                    headers: ["Content-Type": "application/octet-stream", "Earshot-Number": "\(number)"],
                    content: .bytes(bytes), timeout: limits.answer)
                if head.status == .noContent { return }
                throw TransferError(status: head.status, body: body)
            } catch TransferError.busy {
                // The receiver's application does not read: this sender waits.
                try await backoff.wait(after: TransferError.busy)
                try await Task.sleep(for: .milliseconds(250))
            } catch let error as TransferError where error.isOfOlderRoster {
                try await unknownKeyBackoff.wait(after: error)
            } catch {
                if let final = TransferError(final: error) { throw final }
                try await backoff.wait(after: error)
            }
        }
    }

    /// Handles `POST /messages`.
    func takeMessage(_ request: HTTPRequest, from member: MemberID, with key: KeyFingerprint) async throws
        -> HTTPResponse
    {
        try request.require(.POST)
        let number = try request.number()
        let bytes = try await request.body.collect(upTo: TransferLimits.messageSize)
        guard !bytes.isEmpty else { throw TransferError.empty }
        try await inbox.receive(number, from: key) {
            let isTaken: Void? = try await within(self.limits.messageHold) {
                try await self.deliver(.message(bytes, from: member))
            }
            guard isTaken != nil else { throw TransferError.busy }
        }
        return HTTPResponse(status: .noContent)
    }
}

extension HTTPRequest {
    func require(_ methods: HTTPMethod...) throws {
        guard methods.contains(method) else {
            throw HTTPProblem(
                status: .methodNotAllowed, code: "wrong-method", message: "this path does not take \(method)")
        }
    }

    /// Returns the value of the field `Earshot-Number`.
    func number() throws -> TransferNumber {
        guard let number = headers.first(name: "earshot-number").flatMap(TransferNumber.init) else {
            throw TransferError.malformed("it has no field 'Earshot-Number' with EPOCH-NUMBER")
        }
        return number
    }
}
