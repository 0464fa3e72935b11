import AudioBase
import Testing

@Suite struct NearestNamesTests {
    private static let names = ["equalizer", "compressor", "limiter", "reverb"]

    @Test(arguments: [
        ("equaliser", ["equalizer"]), ("LIMITER", ["limiter"]), ("comp", ["compressor"]), ("limiterrr", ["limiter"]),
        ("xylophone", []), ("", []),
    ]) func `the nearest, and none where none is near`(name: String, near: [String]) {
        #expect(nearestNames(name, in: Self.names) == near)
    }

    @Test func `a name of megabytes is near to none`() {
        let name = String(repeating: "x", count: 4 << 20)
        #expect(nearestNames(name, in: Array(repeating: "reverb", count: 1_000)).isEmpty)
    }
}
