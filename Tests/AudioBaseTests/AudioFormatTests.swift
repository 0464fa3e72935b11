// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@Suite struct AudioFormatTests {
    @Test(arguments: [(8_000.0, 1), (44_100, 2), (384_000, 32)])
    func aFormatKeepsWhatItIsGiven(sampleRate: Double, channelCount: Int) {
        let format = AudioFormat(sampleRate: sampleRate, channelCount: channelCount)
        #expect(format.sampleRate == sampleRate && format.channelCount == channelCount)
    }

    @Test func aFormatOutsideItsRangesTraps() async {
        await #expect(processExitsWith: .failure) { _ = AudioFormat(sampleRate: 7_999, channelCount: 1) }
        await #expect(processExitsWith: .failure) { _ = AudioFormat(sampleRate: 384_001, channelCount: 1) }
        await #expect(processExitsWith: .failure) { _ = AudioFormat(sampleRate: 48_000, channelCount: 0) }
        await #expect(processExitsWith: .failure) { _ = AudioFormat(sampleRate: 48_000, channelCount: 33) }
    }
}
