// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@Suite struct RTPPacketTests {
    @Test func headerIsWrittenAsInSection51() {
        var bytes = [UInt8](repeating: 0, count: 12)
        let packet = RTPPacket(
            payloadType: 97, marker: true, sequenceNumber: 0x0102, timestamp: 0x0304_0506, ssrc: 0x0708_090A,
            payloadSize: 0)
        bytes.withMutableRawSpan { packet.writeHeader(into: &$0) }
        #expect(bytes == [0x80, 0xE1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    }

    @Test func whatIsWrittenIsReadBack() throws {
        let packet = RTPPacket(
            payloadType: 96, marker: false, sequenceNumber: 65_535, timestamp: .max, ssrc: 3, payloadSize: 5)
        var bytes = [UInt8](repeating: 0, count: 17)
        bytes.withMutableRawSpan { packet.writeHeader(into: &$0) }
        #expect(try parse(bytes) == packet)
    }

    @Test func contributingSourcesExtensionAndPaddingAreSetAside() throws {
        let head: [UInt8] = [0xB2, 0x60, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]
        let sources = [UInt8](repeating: 7, count: 8)
        let ext: [UInt8] = [0xBE, 0xDE, 0, 1, 1, 2, 3, 4]
        let packet = try parse(head + sources + ext + [10, 11, 12] + [0, 0, 3])
        #expect(packet.contributingSources == 12..<20)
        #expect(packet.headerExtension == 24..<28)
        #expect(packet.payload == 28..<31)
    }

    @Test func paddingMayBeAllThereIs() throws {
        let packet = try parse([0xA0, 0x60, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 2])
        #expect(packet.payload == 12..<12)
    }

    @Test(arguments: [
        ([UInt8](repeating: 0x80, count: 11), RTPError.tooShort(11)),
        ([0x40] + [UInt8](repeating: 0, count: 11), .wrongVersion(1)),
        ([0x8F] + [UInt8](repeating: 0, count: 40), .headerOverrun),
        ([0x90] + [UInt8](repeating: 0, count: 11), .headerOverrun),
        ([0x90] + [UInt8](repeating: 0, count: 13) + [0, 1], .headerOverrun),
        ([0xA0] + [UInt8](repeating: 0, count: 12), .badPadding),
        ([0xA0] + [UInt8](repeating: 0, count: 11) + [2], .badPadding),
    ])
    func brokenHeadersAreErrors(bytes: [UInt8], error: RTPError) {
        #expect(throws: error) { try parse(bytes) }
    }

    private func parse(_ bytes: [UInt8]) throws -> RTPPacket {
        try bytes.withUnsafeBytes { try RTPPacket(parsing: $0.bytes) }
    }
}
