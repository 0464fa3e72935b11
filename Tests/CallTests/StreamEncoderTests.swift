// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport
import EngineMeasures
import TestSupport
import Testing

@testable import EarshotCall

/// The beginning of a shared encoder in the middle of a sound.
@Suite struct StreamEncoderTests {
    private static let block = 128

    /// Encodes blocks of a tone. Returns the payloads.
    @discardableResult
    private static func encode(_ blocks: Range<Int>, _ stream: StreamEncoder, isWanted: Bool = true) throws -> [[UInt8]]
    {
        let sound = AudioBuffer(channelCount: 1, frameCapacity: block)
        var payloads: [[UInt8]] = []
        for n in blocks {
            for i in 0..<block { sound.channels[0][i] = tone(n * block + i) }
            let captured = CapturedBlock(channels: sound.channels, frameCount: block, gap: 0)
            try stream.encode(captured, isWanted: isWanted) { payload, _, _ in payloads.append(Array(payload)) }
        }
        return payloads
    }

    private static func tone(_ frame: Int) -> Float { sine(frame + 120, frequency: 100, rate: 48_000, amplitude: 0.5) }

    private static func stream() throws -> StreamEncoder {
        try StreamEncoder(RepairRig.configuration(.opus, frames: 480, bitRate: 64_000))
    }

    @Test func `an encoder that begins again makes the payloads of a new one`() throws {
        let (paused, new) = (try Self.stream(), try Self.stream())
        try Self.encode(0..<100, paused)
        try Self.encode(100..<200, paused, isWanted: false)
        let expected = try Self.encode(200..<300, new)
        let payloads = try Self.encode(200..<300, paused)
        #expect(payloads == expected && payloads.count == 26)
    }

    @Test func `the first sound fades in for the listener, and not in the history`() throws {
        let stream = try Self.stream()
        let decoder = try OpusDecoder(channelCount: 1)
        let decoded = AudioBuffer(channelCount: 1, frameCapacity: 480)
        var heard: [Float] = []
        for payload in try Self.encode(0..<20, stream) {
            let count = payload.withUnsafeBufferPointer {
                decoder.renderer.decode(
                    $0.baseAddress, byteCount: $0.count, into: decoded.channels, offset: 0, frameCount: 480)
            }
            heard += UnsafeBufferPointer(start: decoded.channels[0], count: count)
        }
        // The codec delays the sound by 312 frames. The tone begins at its peak, and the fade is complete after 480 frames.
        let sound = Array(heard.dropFirst(312))
        try #require(sound.count > 1_000)
        #expect(sound[..<48].allSatisfy { abs($0) < 0.05 }, "\(sound[..<48].map { abs($0) }.max() ?? 1)")
        #expect(abs(sound[960] - Self.tone(960)) < 0.05)
        let first = stream.historyOffset(of: 0)
        #expect((0..<480).allSatisfy { stream.history[0][first + $0] == Self.tone($0) })
    }

    /// A `RateEncoder` encodes the history.
    @Test(arguments: [Codec.opus, .pcm]) func `the history fades in after a gap, with any codec`(_ codec: Codec) throws
    {
        var configuration = RepairRig.configuration(codec, frames: codec == .pcm ? 128 : 480, bitRate: 64_000)
        configuration.repair.reserve = 103
        let stream = try StreamEncoder(configuration)
        try Self.encode(0..<20, stream)
        let sound = AudioBuffer(channelCount: 1, frameCapacity: Self.block)
        for i in 0..<Self.block { sound.channels[0][i] = 0.5 }
        for gap in [9_600, 0, 0, 0, 0, 0] {
            let captured = CapturedBlock(channels: sound.channels, frameCount: Self.block, gap: gap)
            try stream.encode(captured) { _, _, _ in }
        }
        let first = stream.historyOffset(of: stream.historyStart)
        let history = (0..<6 * Self.block).map { stream.history[0][first + $0] }
        #expect(history[0] < 0.001 && abs(history[240] - 0.25) < 0.01 && history[480...].allSatisfy { $0 == 0.5 })
    }

    /// Without the earlier packets a decoder has a wrong level for some time.
    @Test(arguments: [120, 240, 480, 960]) func `a new listener's first packets need no earlier ones`(frames: Int)
        throws
    {
        let stream = try StreamEncoder(RepairRig.configuration(.opus, frames: frames, bitRate: 64_000))
        try Self.encode(0..<150, stream)
        stream.beginIndependent()
        let decoder = try OpusDecoder(channelCount: 1)
        let decoded = AudioBuffer(channelCount: 1, frameCapacity: 960)
        var heard: [Float] = []
        for payload in try Self.encode(150..<250, stream) {
            let count = payload.withUnsafeBufferPointer {
                decoder.renderer.decode(
                    $0.baseAddress, byteCount: $0.count, into: decoded.channels, offset: 0, frameCount: 960)
            }
            heard += UnsafeBufferPointer(start: decoded.channels[0], count: count)
        }
        try #require(heard.count > 10_000)
        // A period of the tone has 480 frames.
        for start in stride(from: 480, to: 4_800, by: 480) {
            let peak = heard[start..<start + 480].map { abs($0) }.max() ?? 0
            #expect(abs(peak - 0.5) < 0.1, "\(peak) from frame \(start) on")
        }
    }

    /// The tone fades out before the gap, and in after it. The decoder may lack the last blocks before the gap, and conceals 60 ms.
    @Test(
        arguments: [(Codec.opus, 120), (.opus, 240), (.opus, 480), (.opus, 960), (.opusCustom, 128)],
        [(fadedBlocks: 4, lostBlocks: 0), (4, 20), (12, 0), (12, 20)])
    func `the first sound after a gap is not louder than the tone`(
        form: (codec: Codec, frames: Int), gap: (fadedBlocks: Int, lostBlocks: Int)
    ) throws {
        let configuration = RepairRig.configuration(form.codec, frames: form.frames, bitRate: 64_000)
        let stream = try StreamEncoder(configuration)
        let decoder = try form.codec.inCalls.decoding.makeDecoder(sampleRate: 48_000, channelCount: 1)
        let decoded = AudioBuffer(channelCount: 1, frameCapacity: 5_760)
        let sound = AudioBuffer(channelCount: 1, frameCapacity: Self.block)
        func call(_ payload: UnsafeRawBufferPointer) -> DecoderCall {
            DecoderCall(
                bytes: payload.baseAddress?.assumingMemoryBound(to: UInt8.self), byteCount: payload.count,
                position: 0, frameCount: form.frames, output: decoded.channels, capacity: 5_760)
        }
        var (peak, soundCount): (Float, Int) = (0, 0)
        for n in 0..<200 {
            if n == 100 {
                for _ in 0..<2_880 / form.frames {
                    _ = decoder.handle.conceal(call(UnsafeRawBufferPointer(start: nil, count: 0)))
                }
            }
            for i in 0..<Self.block {
                let time = Float(n - 100) + Float(i) / Float(Self.block)
                let share = min(1, time < 0 ? -time / Float(gap.fadedBlocks) : time)
                sound.channels[0][i] = Self.tone(n * Self.block + i) * 0.12 * share
            }
            let captured = CapturedBlock(channels: sound.channels, frameCount: Self.block, gap: n == 100 ? 9_600 : 0)
            try stream.encode(captured) { payload, _, _ in
                if (100 - gap.lostBlocks..<100).contains(n) { return }
                let sound = UnsafeRawBufferPointer(rebasing: payload[form.codec.inCalls.headerSize...])
                let count = max(0, decoder.handle.decode(call(sound)))
                for i in 0..<count { peak = max(peak, abs(decoded.channels[0][i])) }
                soundCount += count
            }
        }
        #expect(soundCount > 20_000)
        #expect(peak < 0.09, "the tone's peak is 0.06")
    }

    private struct Form: CustomTestStringConvertible, Sendable {
        var codec = Codec.opus
        var frames: Int
        /// True for the encoder of one peer, which only Opus has.
        var isOwn = false
        var testDescription: String { "\(codec), \(frames) frames\(isOwn ? ", of one peer" : "")" }
    }

    /// The decoder conceals four packets. The concealment ends within 120 frames after the gap.
    @Test(
        arguments: [120, 240, 480, 960].flatMap { [Form(frames: $0), Form(frames: $0, isOwn: true)] }
            + [Form(codec: .opusCustom, frames: 128)])
    private func `the codec makes no step where captured frames are missing`(form: Form) throws {
        let isOwn = form.isOwn
        var configuration = RepairRig.configuration(form.codec, frames: form.frames, bitRate: 64_000)
        if isOwn { configuration.repair.reserve = 103 }
        let (stream, own) = (try StreamEncoder(configuration), isOwn ? try RateEncoder(configuration) : nil)
        let decoder = try form.codec.inCalls.decoding.makeDecoder(sampleRate: 48_000, channelCount: 1)
        let decoded = AudioBuffer(channelCount: 1, frameCapacity: 960)
        let sound = AudioBuffer(channelCount: 1, frameCapacity: Self.block)
        func call(_ payload: UnsafeRawBufferPointer, at position: Int) -> DecoderCall {
            DecoderCall(
                bytes: payload.baseAddress?.assumingMemoryBound(to: UInt8.self), byteCount: payload.count,
                position: position, frameCount: form.frames, output: decoded.channels, capacity: 960)
        }
        var meter = ClickMeter(settling: 120)
        var soundCount = 0
        for n in 0..<200 {
            if n == 100 {
                for _ in 0..<4 {
                    _ = decoder.handle.conceal(call(UnsafeRawBufferPointer(start: nil, count: 0), at: 0))
                }
            }
            for i in 0..<Self.block { sound.channels[0][i] = 0.12 * Self.tone(n * Self.block + i) }
            let captured = CapturedBlock(channels: sound.channels, frameCount: Self.block, gap: n == 100 ? 9_600 : 0)
            func decode(_ payload: UnsafeRawBufferPointer, at position: Int) {
                let sound = UnsafeRawBufferPointer(rebasing: payload[form.codec.inCalls.headerSize...])
                let count = decoder.handle.decode(call(sound, at: position))
                guard n >= 100 else { return }
                for i in 0..<max(0, count) { meter.add(decoded.channels[0][i]) }
                soundCount += max(0, count)
            }
            try stream.encode(captured, isWanted: !isOwn) { payload, position, _ in decode(payload, at: position) }
            try own?.encode(rung: 0, expectedLoss: 0, of: stream) { payload, position, _, _ in
                decode(payload, at: position)
            }
        }
        #expect(soundCount > 10_000)
        #expect(meter.level < -60, "\(meter.level) dBFS")
    }

    /// Encodes a tone of -24 dBFS as AAC, with a gap after 200 blocks. Returns the payloads and their positions.
    private static func encodeAAC(
        _ stream: StreamEncoder, gap: Int, phase: Int = 0
    ) throws -> [(position: Int, payload: [UInt8])] {
        let sound = AudioBuffer(channelCount: 1, frameCapacity: block)
        var units: [(position: Int, payload: [UInt8])] = []
        for n in 0..<400 {
            for i in 0..<block { sound.channels[0][i] = 0.12 * tone(n * block + i + (n < 200 ? 0 : phase)) }
            let captured = CapturedBlock(channels: sound.channels, frameCount: block, gap: n == 200 ? gap : 0)
            try stream.encode(captured) { payload, position, _ in units.append((position, Array(payload))) }
        }
        return units
    }

    /// Each block overlaps the last one in the encoder, which holds a block back. The listener has forgotten the last one.
    @Test(arguments: [0, 120, 240, 360]) func `AAC makes no step where captured frames are missing`(phase: Int) throws {
        let stream = try StreamEncoder(RepairRig.configuration(.aac, frames: 1_024, bitRate: 64_000))
        let encoder = try #require(stream.encoder as? AACInCalls.Encoder).encoder
        let decoder = try AACDecoder(audioSpecificConfig: encoder.audioSpecificConfig)
        let decoded = AudioBuffer(channelCount: 1, frameCapacity: 1_024)
        var meter = ClickMeter(settling: 0)
        var loudest: Float = 0
        for unit in try Self.encodeAAC(stream, gap: 9_600, phase: phase) where unit.position >= 200 * Self.block {
            let count = try unit.payload.withUnsafeBytes { try decoder.decode($0, into: decoded.channels, offset: 0) }
            for i in 0..<count {
                meter.add(decoded.channels[0][i])
                loudest = max(loudest, abs(decoded.channels[0][i]))
            }
        }
        #expect(meter.level < -60, "\(meter.level) dBFS")
        #expect(abs(loudest - 0.06) < 0.003, "\(loudest)")
    }

    /// 200 blocks of 128 frames are 25 of AAC.
    @Test(arguments: [(500, 25), (9_600, 24)])
    func `AAC's last block before a gap is sent unless it is too late`(gap: Int, expected: Int) throws {
        let stream = try StreamEncoder(RepairRig.configuration(.aac, frames: 1_024, bitRate: 64_000))
        let positions = try Self.encodeAAC(stream, gap: gap).map(\.position)
        let first = 200 * Self.block + gap
        #expect(positions.filter { $0 < first } == (0..<expected).map { 1_024 * $0 })
        #expect(positions.filter { $0 >= first } == (0..<24).map { first + 1_024 * $0 })
    }
}
