// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Testing

@Suite struct HostTimeTests {
    @Test func theClockNeverGoesBack() {
        var last = HostTime.now()
        for _ in 0..<10_000 {
            let now = HostTime.now()
            #expect(now >= last)
            last = now
        }
    }

    @Test(arguments: [0, 1e-9, -1e-9, 0.5, -2.25, 86_400, 1e-9 / 3], [0, 1_000_000_000_000_000])
    func advancingIsExactToANanosecond(seconds: Double, origin: Int64) {
        let start = HostTime(nanoseconds: origin)
        let end = start.advanced(bySeconds: seconds)
        #expect(end.nanoseconds - origin == Int64((seconds * 1e9).rounded()))
        #expect(abs(end.seconds(since: start) - seconds) <= 0.5e-9 + abs(seconds) * 1e-15)
        #expect(start.seconds(since: end) == -end.seconds(since: start))
    }

    @Test func laterIsGreater() {
        #expect(HostTime(nanoseconds: -1) < HostTime(nanoseconds: 0))
        #expect(!(HostTime(nanoseconds: 5) < HostTime(nanoseconds: 5)))
    }

    @Test func `a host time is encoded as its number of nanoseconds`() throws {
        let times = [HostTime(nanoseconds: 12), HostTime(nanoseconds: -1), HostTime(nanoseconds: .max)]
        let coded = try JSONEncoder().encode(times)
        #expect(String(decoding: coded, as: UTF8.self) == "[12,-1,9223372036854775807]")
        #expect(try JSONDecoder().decode([HostTime].self, from: coded) == times)
    }

    @Test func `advancing a host time keeps fractions of a second`() {
        let start = HostTime(nanoseconds: 5)
        #expect(start.advanced(bySeconds: 1.5).nanoseconds == 1_500_000_005)
        #expect(start.advanced(bySeconds: -1.5).seconds(since: start) == -1.5)
        #expect(start <= start && !(start > start) && start < start.advanced(bySeconds: 1e-9))
    }
}
