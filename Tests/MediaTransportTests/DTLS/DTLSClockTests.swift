// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc
import OpenSSLClock
import Testing

@testable import EarshotMediaTransport

/// OpenSSL 3.2 and later on the machine's clock, as in the program. All other tests give OpenSSL a clock that is stopped.
@Suite struct DTLSClockTests {
    @Test func `both sides retransmit a lost flight with OpenSSL on the system clock`() throws {
        earshot_openssl_uses_machine_clock(1)
        defer { earshot_openssl_uses_machine_clock(0) }
        let trial = try DTLSTrial()
        trial.client.start(at: .now())
        let hello = try resent(trial.client)
        try #require(hello.count == 1)
        for datagram in hello { trial.server.take(datagram, at: .now()) }
        let flight = try resent(trial.server)
        for datagram in flight { trial.client.take(datagram, at: .now()) }
        for datagram in trial.client.takeSent() { trial.server.take(datagram, at: .now()) }
        #expect(trial.server.profile == .aeadAES128GCM)
    }

    /// Loses the flight that a session has just sent. Returns the datagrams of one tick after the first interval.
    private func resent(_ end: DTLSEnd) throws -> [[UInt8]] {
        try #require(!end.takeSent().isEmpty)
        // OpenSSL started its timer before this time.
        let due = HostTime.now().advanced(bySeconds: 0.05)
        while HostTime.now() < due { usleep(1_000) }
        end.tick(at: .now())
        return end.takeSent()
    }
}
