// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Testing

@testable import EarshotCall

@Suite struct RateEncoderTests {
    /// Encodes half a second of silence on the fourth rung. Returns the number of payloads.
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

    @Test func `a stream that began for a peer without a fallback codec also serves a peer that has one`() throws {
        var alone = RepairRig.configuration(.pcm, frames: 128, repair: RTPRepair())
        alone.changesRate = true
        var native = alone
        native.repair.reserve = 103
        #expect(alone.ladder.count == 1 && native.ladder.count > 3 && alone.form == native.form)
        #expect(try payloads(of: StreamEncoder(alone), by: RateEncoder(native)) >= 20)
    }

    /// A remote peer that waits for its next packet hears nothing until the packet is full.
    @Test func `a whole packet is sent at once after a pause`() throws {
        var native = RepairRig.configuration(.pcm, frames: 128, repair: RTPRepair())
        native.changesRate = true
        native.repair.reserve = 103
        let (stream, encoder) = try (StreamEncoder(native), RateEncoder(native))
        #expect(try payloads(of: stream, by: encoder) >= 20)
        encoder.interrupt()
        var frames: [Int] = []
        try encoder.encode(rung: 5, expectedLoss: 0, of: stream) { payload, position, _, _ in
            frames.append((try? OpusPayload(parsing: payload.bytes))?.ticks ?? 0)
        }
        #expect(frames == [480, 2_880])
    }

    @Test(arguments: [8_000.0, 44_100, 48_000, 96_000, 192_000])
    func `the longest block of a device is encoded completely at any sample rate`(rate: Double) throws {
        var configuration = RepairRig.configuration(.pcm, frames: 128, repair: RTPRepair())
        configuration.deviceRate = rate
        let stream = try StreamEncoder(configuration)
        let length = CaptureReader.readLimit(deviceBlock: configuration.deviceBlock)
        let block = AudioBuffer(channelCount: 1, frameCapacity: length)
        var (end, isContinuous) = (0, true)
        for _ in 0..<50 {
            let captured = CapturedBlock(channels: block.channels, frameCount: length, gap: 0)
            try stream.encode(captured) { payload, place, _ in
                isContinuous = isContinuous && place == end
                end = place + payload.count / 2
            }
        }
        let ratio = 48_000 / rate
        #expect(length == 768 && isContinuous)
        #expect(Double(end) <= Double(50 * length) * ratio + 1)
        #expect(Double(end) > Double(50 * length) * ratio - 70 * max(1, ratio), "the resampler holds some")
    }

    @Test func `a gap shifts the next block by its length at the stream's rate, and is marked once`() throws {
        var configuration = RepairRig.configuration(.pcm, frames: 128, repair: RTPRepair())
        configuration.deviceRate = 24_000
        let stream = try StreamEncoder(configuration)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 128)
        var (ends, places, marks): ([Int], [Int], [Bool]) = ([], [], [])
        for gap in [0, 0, 100, 0] {
            var isFirst = true
            let captured = CapturedBlock(channels: block.channels, frameCount: 128, gap: gap)
            try stream.encode(captured) { payload, place, mark in
                if isFirst { places.append(place) }
                if isFirst { marks.append(mark) }
                isFirst = false
                ends.append(place + payload.count / 2)
            }
        }
        try #require(places.count == 4 && ends.count == 4)
        #expect(marks == [true, false, true, false])
        #expect(places[1] == ends[0] && places[2] == ends[1] + 200 && places[3] == ends[2])
    }
}
