// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotAudioDevices

@Suite("ALSAFlow") struct ALSAFlowTests {
    /// Returns the verdicts over some seconds, for blocks of 64 frames at 48 kHz that arrive this many times too fast.
    private func verdicts(speed: Double, seconds: Double) -> Set<ALSAFlow.Verdict> {
        var flow = ALSAFlow()
        var found: Set<ALSAFlow.Verdict> = []
        let interval = 64.0 / 48_000 / speed
        for i in 0..<Int(seconds / interval) {
            found.insert(
                flow.add(64, at: HostTime(nanoseconds: 0).advanced(bySeconds: Double(i) * interval), sampleRate: 48_000)
            )
        }
        return found
    }

    @Test(
        "a clock at 0.9 to 2 times its nominal rate is classified as steady", arguments: [0.9, 0.999, 1, 1.001, 1.1, 2])
    func steady(_ speed: Double) { #expect(verdicts(speed: speed, seconds: 10) == [.steady]) }

    @Test("a clock at 0.75 times its nominal rate or less is classified as slow", arguments: [0.25, 0.5, 0.75])
    func slow(_ speed: Double) { #expect(verdicts(speed: speed, seconds: 3) == [.steady, .slow]) }

    @Test("a clock at 5 times its nominal rate or more is classified as unpaced", arguments: [5, 1_000])
    func unpaced(_ speed: Double) { #expect(verdicts(speed: speed, seconds: 3) == [.steady, .unpaced]) }

    @Test("callbacks in bursts are classified as steady")
    func bursts() {
        var flow = ALSAFlow()
        for i in 0..<10_000 {
            let now = HostTime(nanoseconds: 0).advanced(bySeconds: Double(i / 16) * 1_024 / 48_000)
            #expect(flow.add(64, at: now, sampleRate: 48_000) == .steady)
        }
    }
}
