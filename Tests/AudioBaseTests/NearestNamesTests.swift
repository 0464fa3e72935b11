// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@Suite struct NearestNamesTests {
    private static let names = ["equalizer", "compressor", "limiter", "reverb"]

    @Test(arguments: [
        ("equaliser", ["equalizer"]), ("LIMITER", ["limiter"]), ("comp", ["compressor"]), ("limiterrr", ["limiter"]),
        ("xylophone", []), ("", []),
    ]) func `the nearest names are suggested, or none if none is near`(name: String, near: [String]) {
        #expect(nearestNames(name, in: Self.names) == near)
    }

    @Test(arguments: [
        ("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "abd", 1),
        ("abc", "bc", 1),
        ("ab", "ba", 2), ("flaw", "lawn", 2), ("a", "b", 1),
    ]) func `edit distance counts changed, inserted and deleted characters`(a: String, b: String, distance: Int) {
        #expect(editDistance(Array(a), Array(b)) == distance && editDistance(Array(b), Array(a)) == distance)
    }

    /// Up to two characters of a short name may differ, and a third of a longer one.
    @Test func `a name is near if at most two characters or a third of its length differ`() {
        #expect(nearestNames("abxy", in: ["abcd"]) == ["abcd"] && nearestNames("axyz", in: ["abcd"]).isEmpty)
        #expect(nearestNames("abcdefghixyz", in: ["abcdefghijk"]) == ["abcdefghijk"])
        #expect(nearestNames("abcdefghvwxyz", in: ["abcdefgh"]).isEmpty)
        #expect(nearestNames("abcdefvwxyzu", in: ["abcdefghijkl"]).isEmpty)
    }

    @Test func `nearest names are sorted by distance, then by name, up to the requested count`() {
        let names = ["reverb3", "reverc", "reverb", "reverb1", "reverb22", "Reverb2"]
        #expect(nearestNames("reverb", in: names) == ["reverb", "Reverb2", "reverb1"])
        #expect(nearestNames("reverb", in: names, count: 1) == ["reverb"])
        #expect(nearestNames("reverb", in: names, count: 9).count == 6)
        #expect(nearestNames("reverb", in: names, count: 9).last == "reverc")
    }

    @Test func `a name several megabytes long has no nearest name`() {
        let name = String(repeating: "x", count: 4 << 20)
        #expect(nearestNames(name, in: Array(repeating: "reverb", count: 1_000)).isEmpty)
    }
}
