// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

@Suite struct NetlinkMessageTests {
    @Test func `links and addresses are parsed`() throws {
        let bytes =
            message(16, link(2, "eth0", flags: 0x1043)) + message(20, address(2, [10, 0, 0, 7], prefix: 24))
            + message(20, address(2, linkLocal, prefix: 64, flags: 0x80)) + message(3, [0, 0, 0, 0])
        let v6 = try #require(IPAddress("fe80::7%2"))
        #expect(
            read(bytes) == [
                .link(NetworkLink(index: 2, name: "eth0", hardware: 1, flags: 0x1043, driver: "")),
                .address(LinkAddress(index: 2, address: .v4(0x0A00_0007), prefixLength: 24, flags: 0)),
                .address(LinkAddress(index: 2, address: v6, prefixLength: 64, flags: 0x80)), .done,
            ])
    }

    @Test func `removed links and addresses, errors and other messages are distinguished`() {
        let gone = address(3, [10, 0, 0, 7], prefix: 8)
        let bytes =
            message(17, link(3, "tun0", flags: 0)) + message(21, gone) + message(2, native(UInt32(bitPattern: -13)))
            + message(24, [2, 0, 0, 0]) + message(20, address(3, [1, 2, 3], prefix: 8)) + message(2, [1])
        #expect(
            read(bytes) == [
                .linkGone(index: 3),
                .addressGone(LinkAddress(index: 3, address: .v4(0x0A00_0007), prefixLength: 8, flags: 0)),
                .error(13), .other, .other, .other,
            ])
        #expect(read(message(2, native(1 << 31))) == [.error(.min)])
    }

    @Test func `a point-to-point interface is listed with its local address`() {
        let body = address(4, [10, 9, 0, 2], prefix: 32) + attribute(2, [10, 9, 0, 1])
        #expect(
            read(message(20, body))
                == [.address(LinkAddress(index: 4, address: .v4(0x0A09_0001), prefixLength: 32, flags: 0))])
    }

    @Test func `an interrupted dump is detected`() {
        var isInterrupted = false
        _ = message(3, [0, 0, 0, 0], flags: 0x10).withUnsafeBytes {
            NetlinkMessage.all(in: $0.bytes, isInterrupted: &isInterrupted)
        }
        #expect(isInterrupted)
    }

    @Test func `interfaces are classified, and unusable addresses are omitted`() {
        var table = NetworkTable()
        let running: UInt32 = 0x41
        let links = [
            NetworkLink(index: 1, name: "lo", hardware: 772, flags: running | 0x8, driver: ""),
            NetworkLink(index: 2, name: "eth0", hardware: 1, flags: running, driver: ""),
            NetworkLink(index: 3, name: "wlan0", hardware: 1, flags: running, driver: ""),
            NetworkLink(index: 4, name: "ppp0", hardware: 512, flags: running | 0x10, driver: ""),
            NetworkLink(index: 5, name: "wg0", hardware: 0xFFFE, flags: running, driver: "wireguard"),
            NetworkLink(index: 6, name: "eth1", hardware: 1, flags: 0x1, driver: ""),  // no cable
        ]
        for link in links {
            table.applyMessage(.link(link))
            table.applyMessage(.address(entry(link.index, 0x0A00_0000 + link.index)))
        }
        table.applyMessage(.address(entry(2, 0x0A00_00AA, flags: 0x20)))
        table.applyMessage(.address(LinkAddress(index: 2, address: .v6(5, scope: 0), prefixLength: 64, flags: 0x40)))
        table.applyMessage(.address(entry(9, 7)))  // of no interface
        let outward = table.reachable(includingLoopback: false) { $0 == "wlan0" }
        #expect(outward.map(\.interface.name) == ["eth0", "wlan0", "ppp0", "wg0", "eth0"])
        #expect(outward.map(\.interface.kind) == [.wired, .wireless, .pointToPoint, .pointToPoint, .wired])
        #expect(outward.map(\.isDeprecated) == [false, false, false, false, true])
        #expect(table.reachable(includingLoopback: true) { _ in false }.contains { $0.address == .v4(0x0A00_0001) })
    }

    @Test func `random bytes are parsed as messages or ignored`() {
        var random = SeededRandom(seed: 5)
        let good = message(16, link(2, "eth0", flags: 1)) + message(20, address(2, linkLocal, prefix: 64))
        var count = 0
        for _ in 0..<100_000 {
            var bytes = good
            for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            count += read(Array(bytes.prefix(random.below(bytes.count + 1)))).count
        }
        #expect(count > 10_000)
    }

    @Test func `network changes are reported after a pause, and within a limit if they continue`() throws {
        var change = NetworkChange()
        #expect(change.deadline == nil)
        change.note(at: .seconds(10))
        #expect(change.deadline == .seconds(10 + NetworkChange.pause))
        for n in 1...20 { change.note(at: .seconds(10 + 0.04 * Double(n))) }
        #expect(try #require(change.deadline).seconds(since: .seconds(10)) == NetworkChange.longest)
        change.settle()
        #expect(change.deadline == nil)
    }

    private let linkLocal: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [7]

    private func entry(_ index: UInt32, _ bits: UInt32, flags: UInt32 = 0) -> LinkAddress {
        LinkAddress(index: index, address: .v4(bits), prefixLength: 24, flags: flags)
    }

    private func read(_ bytes: [UInt8]) -> [NetlinkMessage] {
        var isInterrupted = false
        return bytes.withUnsafeBytes { NetlinkMessage.all(in: $0.bytes, isInterrupted: &isInterrupted) }
    }

    private func native<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

    private func message(_ type: UInt16, _ body: [UInt8], flags: UInt16 = 0) -> [UInt8] {
        let bytes =
            native(UInt32(16 + body.count)) + native(type) + native(flags) + [UInt8](repeating: 0, count: 8) + body
        return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    private func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        native(UInt16(4 + value.count)) + native(type) + value + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    }

    private func link(_ index: UInt32, _ name: String, flags: UInt32) -> [UInt8] {
        [0, 0] + native(UInt16(1)) + native(index) + native(flags) + native(UInt32(0))
            + attribute(3, Array(name.utf8) + [0])
    }

    private func address(_ index: UInt32, _ bytes: [UInt8], prefix: UInt8, flags: UInt32? = nil) -> [UInt8] {
        let family: UInt8 = bytes.count == 16 ? 10 : 2
        return [family, prefix, 0, 0] + native(index) + attribute(1, bytes)
            + (flags.map { attribute(8, native($0)) } ?? [])
    }
}
