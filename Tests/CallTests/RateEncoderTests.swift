import AudioBase
import MediaTransport
import Testing

@testable import Call

@Suite struct RateEncoderTests {
    /// Encodes half a second of silence on the fourth rung, and says how many payloads came of it.
    private func payloads(of stream: StreamEncoder, by encoder: RateEncoder) throws -> Int {
        let block = AudioBuffer(channelCount: 1, frameCapacity: 128)
        var count = 0
        for _ in 0..<188 {
            try stream.encode(CapturedBlock(channels: block.channels, frameCount: 128, gap: 0)) { _, _, _ in }
            try encoder.encode(rung: 3, expectedLoss: 0, of: stream) { _, _, codec, _ in
                if codec == .opus { count += 1 }
            }
        }
        return count
    }

    @Test func `a stream that began for a far side without a reserve serves one that has it`() throws {
        var alone = RepairRig.configuration(.pcm, frames: 128, repair: RTPRepair())
        alone.changesRate = true
        var native = alone
        native.repair.reserve = 103
        #expect(alone.ladder.count == 1 && native.ladder.count > 3 && alone.form == native.form)
        #expect(try payloads(of: StreamEncoder(alone), by: RateEncoder(native)) >= 20)
    }

    /// A far side that waits for its next packet hears nothing until it is full.
    @Test func `after a pause a whole packet is there at once`() throws {
        var native = RepairRig.configuration(.pcm, frames: 128, repair: RTPRepair())
        native.changesRate = true
        native.repair.reserve = 103
        let (stream, encoder) = try (StreamEncoder(native), RateEncoder(native))
        #expect(try payloads(of: stream, by: encoder) >= 20)
        encoder.interrupt()
        var frames: [Int] = []
        try encoder.encode(rung: 5, expectedLoss: 0, of: stream) { payload, position, _, _ in
            frames.append((try? OpusPayload(parsing: payload))?.ticks ?? 0)
        }
        #expect(frames == [480, 2_880])
    }
}
