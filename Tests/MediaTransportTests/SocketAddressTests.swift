// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@Suite struct SocketAddressTests {
    @Test(arguments: ["127.0.0.1", "0.0.0.0", "255.255.255.255", "::1", "::", "2001:db8::1", "::ffff:1.2.3.4"])
    func numericAddressesThereAndBack(text: String) throws {
        #expect(try #require(IPAddress(text)).description == text)
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.256", "::g", "1.2.3.4%1", "::1%", "::1%nosuchinterface", "1.2.3.4\0"])
    func othersAreNone(text: String) { #expect(IPAddress(text) == nil) }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("128.0.0.1", false),
        ("0.0.0.0", false), ("::", false), ("::2", false),
    ])
    func loopbackIsTold(text: String, loopback: Bool) { #expect(IPAddress(text)?.isLoopback == loopback) }

    @Test func namesAndNumbersResolve() throws {
        #expect(try SocketAddress.resolve("127.0.0.1", port: 9) == [SocketAddress(.loopback, port: 9)])
        #expect(try SocketAddress.resolve("localhost", port: 9).allSatisfy { $0.address.isLoopback && $0.port == 9 })
    }

    @Test(arguments: ["no-such-host.invalid", "", "two words"])
    func unknownHostIsNamed(host: String) {
        let error = #expect(throws: ResolutionError.self) { try SocketAddress.resolve(host, port: 1) }
        #expect(error?.host == host)
    }
}
