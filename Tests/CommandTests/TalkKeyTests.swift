// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import earshot

/// The key that is held to talk, as a terminal shows it: by presses and repeats, without a release.
@Suite struct TalkKeyTests {
    private static func time(_ seconds: Double) -> HostTime { HostTime(nanoseconds: 9).advanced(bySeconds: seconds) }

    /// Presses the key at these seconds. Returns the seconds at which talking ends, to 10 ms.
    private static func releases(_ presses: [Double]) -> [Double] {
        var key = TalkKey()
        var rest = presses[...]
        var releases: [Double] = []
        for step in 0..<1_000 {
            let now = Double(step) / 100
            while let next = rest.first, next <= now + 1e-9 {
                key.press(at: time(next))
                rest.removeFirst()
            }
            if key.takeRelease(at: time(now)) { releases.append(now) }
        }
        return releases
    }

    /// The press, and repeats from `first` seconds on until `end`.
    private static func held(first: Double, interval: Double, until end: Double) -> [Double] {
        [0] + stride(from: first, through: end, by: interval)
    }

    @Test func `a short press talks for 0.7 s`() {
        let releases = Self.releases([0])
        #expect(releases.count == 1 && abs(releases[0] - 0.7) < 0.02, "\(releases)")
    }

    @Test(arguments: [(0.25, 0.03), (0.5, 0.04), (0.6, 0.1), (0.66, 0.05)] as [(Double, Double)])
    func `a key that is held talks without a pause, until shortly after its release`(first: Double, interval: Double) {
        let releases = Self.releases(Self.held(first: first, interval: interval, until: 4))
        #expect(releases.count == 1 && releases[0] > 4 - interval && releases[0] < 4.35, "\(releases)")
    }

    @Test func `lost repeats cause no pause`() {
        // Two in three repeats are lost.
        let sparse = [0.0, 0.5] + stride(from: 0.6, through: 4, by: 0.3)
        #expect(Self.releases(sparse).count == 1)
        let delayed =
            Self.held(first: 0.5, interval: 0.04, until: 2)
            + Self.held(first: 0.25, interval: 0.04, until: 1)
            .dropFirst().map { 2 + $0 }
        #expect(Self.releases(delayed).count == 1, "\(Self.releases(delayed))")
    }

    @Test func `quick presses talk without a pause, and later ones begin anew`() {
        #expect(Self.releases([0, 0.3, 0.6, 0.9]).map { ($0 * 10).rounded() / 10 } == [1.6])
        #expect(Self.releases([0, 1, 2]).count == 3)
        // A second press does not shorten the time in which the first repeat is awaited.
        let quick = Self.releases([0, 0.1])
        #expect(!quick.isEmpty && quick.allSatisfy { $0 > 0.69 }, "\(quick)")
    }

    @Test func `a release is reported once, and not without a press`() {
        var key = TalkKey()
        #expect(!key.takeRelease(at: Self.time(5)) && !key.isHeld(at: Self.time(5)))
        key.press(at: Self.time(6))
        #expect(key.isHeld(at: Self.time(6.5)) && !key.takeRelease(at: Self.time(6.5)))
        #expect(key.takeRelease(at: Self.time(60)) && !key.takeRelease(at: Self.time(60)))
    }
}
