// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotPlayout

struct SharedDialTests {
    @Test func `a dial is read as it was stored last`() {
        let dial = SharedDial(.listen)
        defer { dial.deallocate() }
        #expect(dial.value == 1)
        dial.store(.sing)
        #expect(dial.value == 0)
    }

    /// The address sanitizer does not reuse freed memory, so it runs no test of this suite.
    @Test func `a dial that is gone leaves its memory to the next one`() {
        var addresses: Set<UInt> = []
        for _ in 0..<1_000 {
            let dial = SharedDial(.talk)
            addresses.insert(withUnsafeBytes(of: dial) { $0.load(as: UInt.self) })
            dial.deallocate()
        }
        #expect(addresses.count < 500, "\(addresses.count) of 1,000 lie elsewhere")
    }
}
