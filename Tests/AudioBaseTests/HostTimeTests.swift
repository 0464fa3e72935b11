import AudioBase
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
}
