// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

@testable import EarshotMediaTransport

/// Parses the input as one message. Then it is a script for two agents, one of each mode: messages, each after four bytes: its
/// kind, the time since the last, its source, its length. The kind selects whether the bytes are a whole message, or attributes
/// of a message that the peer itself has sealed, so that they are parsed after the integrity check.
func fuzzSTUN(_ input: UnsafeRawBufferPointer) -> CInt {
    if let message = try? STUNMessage(parsing: input.bytes) { read(message) }
    for mode in [ICEMode.full, .lite] {
        var rig = ICERig(mode)
        var rest = input[...]
        while rest.count >= 4 {
            let start = rest.startIndex
            let (kind, time, from, size) = (rest[start], rest[start + 1], rest[start + 2], Int(rest[start + 3]))
            let bytes = UnsafeRawBufferPointer(rebasing: rest.dropFirst(4).prefix(size))
            rest = rest.dropFirst(4 + size)
            rig.time = rig.time.advanced(bySeconds: Double(time) * Double(time) / 2_000)
            if kind & 1 == 0 { rig.take(bytes, from: from) } else { rig.seal(bytes, kind: kind, from: from) }
            rig.tick()
        }
    }
    return 0
}

private func read(_ message: STUNMessage) {
    precondition(message.method < 0x1000 && !message.isAuthentic(key: [UInt8]().span.bytes))
    precondition(message.errorCode.map { (300..<700).contains($0) } ?? true)
    if let name = message.username { precondition(name.byteCount <= STUNMessage.maximumSize) }
    precondition(message.unknownAttributes.map { $0.count <= STUNMessage.maximumSize / 2 } ?? true)
    _ = (message.software, message.errorReason, message.priority, message.usesCandidate)
    _ = (message.xorMappedAddress, message.controlledTieBreaker, message.controllingTieBreaker)
}

/// An agent, with the fuzzer as its peer.
private struct ICERig {
    var agent: ICEAgent
    var time = HostTime(nanoseconds: 1_000_000_000)
    private let peer: ICECredentials
    private var lastCheck = STUNTransactionID(high: 0, low: 0)
    private var lastTarget = SocketAddress(.loopback, port: 1)
    private let local = IPAddress.v4(0x0A00_0001)

    init(_ mode: ICEMode) {
        var random = Counter()
        peer = .random(using: &random)
        agent = ICEAgent(mode, role: .controlling, credentials: .random(using: &random), at: time, using: &random)
        agent.setLocalAddresses([local, .v4(0x0A00_0002), .v6(0xFE80 << 112 | 1, scope: 2)], at: time)
        agent.setRemote(peer, candidates: ICECandidate.hosts([.v4(0x0A00_0003)], port: 9), at: time)
    }

    mutating func take(_ bytes: UnsafeRawBufferPointer, from: UInt8) {
        var sent = 0
        _ = agent.receive(bytes, from: SocketAddress(.v4(0x0A00_0000 | UInt32(from)), port: 9), to: local, at: time) {
            _, _, _ in sent += 1
        }
        precondition(sent == 0, "nobody knows the password")
    }

    mutating func seal(_ bytes: UnsafeRawBufferPointer, kind: UInt8, from: UInt8) {
        let isAnswer = kind & 2 != 0
        let messageClass: STUNMessage.Class = isAnswer ? (kind & 4 != 0 ? .error : .success) : .request
        let id = isAnswer && kind & 8 != 0 ? lastCheck : STUNTransactionID(high: UInt32(kind), low: UInt64(bytes.count))
        let source = kind & 16 != 0 ? lastTarget : SocketAddress(.v4(0x0A00_0000 | UInt32(from)), port: 9)
        let key = Array((isAnswer ? peer : agent.credentials).password.utf8)
        let name = Array("\(agent.credentials.usernameFragment):\(peer.usernameFragment)".utf8)
        withUnsafeTemporaryAllocation(byteCount: STUNMessage.maximumSize, alignment: 8) { buffer in
            var writer = STUNWriter(messageClass, transactionID: id, into: buffer.mutableBytes)
            if !isAnswer { writer.addUsername(name.span.bytes) }
            if kind & 32 != 0 { writer.addXORMappedAddress(source) }
            var rest = bytes[...]
            while rest.count >= 3 {
                let start = rest.startIndex
                let value = UnsafeRawBufferPointer(rebasing: rest.dropFirst(3).prefix(Int(rest[start + 2])))
                writer.add(UInt16(rest[start]) << 8 | UInt16(rest[start + 1]), value.bytes)
                rest = rest.dropFirst(3 + value.count)
            }
            writer.addMessageIntegrity(key: key.span.bytes)
            writer.addFingerprint()
            var sent = 0
            writer.message.withUnsafeBytes { message in
                _ = agent.receive(message, from: source, to: local, at: time) { bytes, _, _ in
                    precondition((try? STUNMessage(parsing: bytes.bytes))?.hasFingerprint == true)
                    sent += 1
                }
            }
            precondition(sent <= 2)
        }
    }

    mutating func tick() {
        var checks: [(STUNTransactionID, SocketAddress)] = []
        agent.tick(at: time) { bytes, _, to in
            guard let message = try? STUNMessage(parsing: bytes.bytes) else { preconditionFailure("not our own") }
            checks.append((message.transactionID, to))
        }
        if let (id, to) = checks.last { (lastCheck, lastTarget) = (id, to) }
        precondition(agent.mode == .full || checks.isEmpty)
        precondition(agent.nextDeadline.map { $0 > time } ?? true)
        precondition(agent.pairs.count <= ICEAgent.maximumPairs && agent.remotes.count <= ICEAgent.maximumRemotes)
        precondition(agent.checks.count <= ICECheckTable.capacity && agent.replays.count <= ICEReplayWindow.capacity)
    }
}

func stunSeeds() -> [[UInt8]] {
    func step(_ kind: UInt8, _ time: UInt8, _ from: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [kind, time, from, UInt8(bytes.count)] + bytes
    }
    let useCandidate: [UInt8] = [0, 0x25, 0]
    let priority: [UInt8] = [0, 0x24, 4, 0x6E, 0, 1, 0xFF]
    let controlled: [UInt8] = [0x80, 0x29, 8, 1, 2, 3, 4, 5, 6, 7, 8]
    let controlling: [UInt8] = [0x80, 0x2A, 8, 0xFF, 2, 3, 4, 5, 6, 7, 8]
    let script =
        step(1, 0, 3, priority + controlled) + step(0x3B, 1, 3, [])
        + step(1, 10, 7, priority + controlling + useCandidate)
        + step(0x3B, 10, 3, []) + step(0x1F, 10, 3, [0, 9, 4, 0, 0, 4, 87]) + step(1, 200, 3, [0x7F, 0xFF, 1, 1])
    return [script, vector, step(0, 1, 3, vector)]
}

/// The sample request of RFC 5769.
private let vector: [UInt8] = [
    0x00, 0x01, 0x00, 0x58, 0x21, 0x12, 0xA4, 0x42, 0xB7, 0xE7, 0xA7, 0x01, 0xBC, 0x34, 0xD6, 0x86, 0xFA, 0x87, 0xDF,
    0xAE,
    0x80, 0x22, 0x00, 0x10, 0x53, 0x54, 0x55, 0x4E, 0x20, 0x74, 0x65, 0x73, 0x74, 0x20, 0x63, 0x6C, 0x69, 0x65, 0x6E,
    0x74,
    0x00, 0x24, 0x00, 0x04, 0x6E, 0x00, 0x01, 0xFF, 0x80, 0x29, 0x00, 0x08, 0x93, 0x2F, 0xF9, 0xB1, 0x51, 0x26, 0x3B,
    0x36,
    0x00, 0x06, 0x00, 0x09, 0x65, 0x76, 0x74, 0x6A, 0x3A, 0x68, 0x36, 0x76, 0x59, 0x20, 0x20, 0x20, 0x00, 0x08, 0x00,
    0x14,
    0x9A, 0xEA, 0xA7, 0x0C, 0xBF, 0xD8, 0xCB, 0x56, 0x78, 0x1E, 0xF2, 0xB5, 0xB2, 0xD3, 0xF2, 0x49, 0xC1, 0xB5, 0x71,
    0xA2,
    0x80, 0x28, 0x00, 0x04, 0xE5, 0x7A, 0x3B, 0xCF,
]
