// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotPlayout

struct SharedLatencyProfileTests {
    @Test func `the last stored latency profile is read`() {
        let profile = SharedLatencyProfile(.listen)
        defer { profile.deallocate() }
        #expect(profile.value == 1)
        profile.store(.sing)
        #expect(profile.value == 0)
    }

    /// The address sanitizer does not reuse freed memory, so it runs no test of this suite.
    @Test func `the memory of a deallocated latency profile is reused`() {
        var addresses: Set<UInt> = []
        for _ in 0..<1_000 {
            let profile = SharedLatencyProfile(.talk)
            addresses.insert(withUnsafeBytes(of: profile) { $0.load(as: UInt.self) })
            profile.deallocate()
        }
        #expect(addresses.count < 500, "\(addresses.count) of 1,000 lie elsewhere")
    }
}
