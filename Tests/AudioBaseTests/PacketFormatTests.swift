// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

struct PacketFormatTests {
    @Test func `a packet format keeps the values it was created with`() {
        let format = AudioFormat(sampleRate: 44_100, channelCount: 2)
        let packets = PacketFormat(codec: .aac, format: format, framesPerPacket: 1_024, configuration: [0x12, 0x10])
        #expect(packets.codec == .aac && packets.format == format)
        #expect(packets.framesPerPacket == 1_024 && packets.configuration == [0x12, 0x10])
        let pcm = PacketFormat(codec: .pcm(.int24), format: format, framesPerPacket: nil)
        #expect(pcm.codec == .pcm(.int24) && pcm.framesPerPacket == nil && pcm.configuration.isEmpty)
        #expect(pcm != PacketFormat(codec: .pcm(.int16), format: format, framesPerPacket: nil))
    }

    @Test func `an IO cycle keeps the values it was created with`() {
        let (input, output) = (
            AudioBuffer(channelCount: 1, frameCapacity: 64), AudioBuffer(channelCount: 2, frameCapacity: 64)
        )
        let cycle = IOCycle(
            frameCount: 64, sampleTime: 12, hostTime: HostTime(nanoseconds: 34), inputLatency: 0.001,
            outputLatency: 0.002, input: input.channels, output: output.channels)
        #expect(cycle.frameCount == 64 && cycle.sampleTime == 12 && cycle.hostTime.nanoseconds == 34)
        #expect(cycle.inputLatency == 0.001 && cycle.outputLatency == 0.002)
        #expect(cycle.input.count == 1 && cycle.output.count == 2)
        #expect(cycle.input[0] == input.channels[0] && cycle.output[1] == output.channels[1])
        #expect(IOCycle.maximumFrameCount == 8_192)
    }

    /// The published first numbers of SplitMix64 with the seed 1234567.
    @Test func `a seeded generator yields the published SplitMix64 numbers`() {
        var random = SeededRandom(seed: 1_234_567)
        let first = (0..<5).map { _ in random.next() }
        #expect(
            first == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ])
        var (sum, least, most) = (0.0, 1.0, 0.0)
        for _ in 0..<100_000 {
            let x = random.unit()
            (sum, least, most) = (sum + x, min(least, x), max(most, x))
        }
        #expect(least >= 0 && least < 0.001 && most < 1 && most > 0.999 && abs(sum / 100_000 - 0.5) < 0.005)
    }
}
