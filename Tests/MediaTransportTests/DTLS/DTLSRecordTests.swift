// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotMediaTransport

@Suite struct DTLSRecordTests {
    /// A record with this content.
    private func record(_ kind: UInt8, epoch: UInt8 = 0, _ body: [UInt8]) -> [UInt8] {
        [kind, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 0, 1, UInt8(body.count >> 8), UInt8(body.count & 255)] + body
    }

    private func records(_ bytes: [UInt8]) -> [DTLSRecord] {
        bytes.withUnsafeBytes { bytes in
            var found: [DTLSRecord] = []
            while let record = DTLSRecord(bytes.bytes, at: found.last?.bytes.upperBound ?? 0) { found.append(record) }
            return found
        }
    }

    @Test func `a datagram with several records is split`() {
        let bytes = record(22, [1, 2, 3]) + record(20, [1]) + record(22, epoch: 1, []) + record(23, epoch: 2, [9])
        let found = records(bytes)
        #expect(found.map(\.content) == [.handshake, .changeCipherSpec, .handshake, .applicationData])
        #expect(found.map(\.epoch) == [0, 0, 1, 2] && found.map { $0.body.count } == [3, 1, 0, 1])
        #expect(found.last?.bytes.upperBound == bytes.count)
    }

    @Test func `a truncated record, or one of another version or type, ends parsing of the datagram`() {
        let first = record(22, [1, 2, 3])
        for count in 0..<first.count { #expect(records(Array(first.prefix(count))).isEmpty) }
        #expect(records(first + [22, 0xFE]).count == 1)
        var other = first
        other[1] = 3
        #expect(records(other + first).isEmpty)
        for kind: UInt8 in [0, 1, 19, 24, 25, 63, 128, 255] { #expect(records(record(kind, [1]) + first).isEmpty) }
        #expect(records(first + first.dropLast()).count == 1)
    }

    /// A handshake message's header: kind, length, number, offset and length of the fragment.
    private func handshake(
        _ kind: UInt8, length: Int = 8, number: Int = 0, offset: Int = 0, fragment: Int = 8, body: Int = 8
    ) -> [UInt8] {
        func three(_ n: Int) -> [UInt8] { [UInt8(n >> 16), UInt8(n >> 8 & 255), UInt8(n & 255)] }
        return record(
            22,
            [kind] + three(length) + [UInt8(number >> 8), UInt8(number & 255)] + three(offset) + three(fragment)
                + [UInt8](repeating: 0, count: body))
    }

    private func isPlausible(_ bytes: [UInt8], to role: DTLSRole) -> Bool {
        bytes.withUnsafeBytes { DTLSRecord($0.bytes, at: 0)?.isPlausibleHandshake($0.bytes, to: role) ?? false }
    }

    @Test func `only handshake messages for this role are plausible`() {
        let toClient = (UInt8(0)...255).filter { isPlausible(handshake($0), to: .client) }
        let toServer = (UInt8(0)...255).filter { isPlausible(handshake($0), to: .server) }
        #expect(toClient == [2, 3, 11, 12, 13, 14] && toServer == [1, 11, 15, 16])
    }

    @Test func `inconsistent lengths of a handshake message are rejected`() {
        #expect(isPlausible(handshake(1), to: .server))
        #expect(isPlausible(handshake(1, length: 16_384, offset: 16_376), to: .server))
        #expect(isPlausible(handshake(1, fragment: 4), to: .server), "another message may follow")
        #expect(!isPlausible(handshake(1, length: 16_385), to: .server))
        #expect(!isPlausible(handshake(1, offset: 1), to: .server))
        #expect(!isPlausible(handshake(1, length: 100, fragment: 9), to: .server))
        #expect(!isPlausible(handshake(1, number: 32), to: .server))
        #expect(!isPlausible(record(22, [1, 0, 0, 0]), to: .server))
        #expect(!isPlausible(record(22, epoch: 1, [UInt8](repeating: 1, count: 20)), to: .server))
    }

    @Test func `an alert is read only if unencrypted and complete`() {
        func alert(_ bytes: [UInt8]) -> UInt8? {
            bytes.withUnsafeBytes { bytes in
                DTLSRecord(bytes.bytes, at: 0)?.alertInClear(bytes.bytes).flatMap {
                    $0.isFatal ? $0.alert.rawValue : nil
                }
            }
        }
        #expect(alert(record(21, [2, 40])) == 40)
        #expect(alert(record(21, [1, 40])) == nil)
        #expect(alert(record(21, [2])) == nil && alert(record(21, [2, 40, 0])) == nil)
        #expect(alert(record(21, epoch: 1, [2, 40])) == nil && alert(record(22, [2, 40])) == nil)
    }
}
