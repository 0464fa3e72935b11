// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Testing

@Suite("SampleType") struct SampleTypeTests {
    /// Interleaved bytes with guard bytes on both sides.
    private final class Bytes {
        static let margin = 16
        let memory: UnsafeMutableRawBufferPointer
        let count: Int
        var start: UnsafeMutableRawPointer { memory.baseAddress.unsafelyUnwrapped + Self.margin + 1 }  // not aligned

        init(_ type: SampleType, channelCount: Int, frameCount: Int) {
            count = type.byteCount * channelCount * frameCount
            memory = .allocate(byteCount: count + 2 * Self.margin + 1, alignment: 16)
            memory.initializeMemory(as: UInt8.self, repeating: 0xA5)
        }

        deinit { memory.deallocate() }

        var isKeptAround: Bool {
            memory.prefix(Self.margin + 1).allSatisfy { $0 == 0xA5 }
                && memory.dropFirst(Self.margin + 1 + count).allSatisfy { $0 == 0xA5 }
        }
    }

    /// Returns the ratio of full scale to the error of a type, in dB, for a sine just below full scale: 6.02 per bit. A Float is
    /// exact only above 0.5.
    private static func resolution(_ type: SampleType) -> Double {
        switch type {
        case .uint8: 49
        case .int16: 97
        case .int24, .int24In32: 144
        case .int32: 185
        case .float32, .float64: .infinity
        }
    }

    private static func sine(_ buffer: AudioBuffer) {
        for c in 0..<buffer.channels.count {
            let step = 0.0517 + 0.0131 * Double(c)
            for i in 0..<buffer.frameCapacity { buffer.channels[c][i] = Float(0.99 * sin(step * Double(i))) }
        }
    }

    @Test(
        "a round trip preserves a signal to the resolution of the sample type", arguments: SampleType.allCases, 1...32)
    func roundTrip(_ type: SampleType, channelCount: Int) {
        let frameCount = 701
        let (from, to) = (
            AudioBuffer(channelCount: channelCount, frameCapacity: frameCount),
            AudioBuffer(channelCount: channelCount, frameCapacity: frameCount)
        )
        Self.sine(from)
        let bytes = Bytes(type, channelCount: channelCount, frameCount: frameCount)
        type.write(from.channels, frameCount: frameCount, into: bytes.start, channelCount: channelCount)
        #expect(bytes.isKeptAround)
        type.read(bytes.start, channelCount: channelCount, frameCount: frameCount, into: to.channels)
        for c in 0..<channelCount {
            let errors = (0..<frameCount).map { Double(to.channels[c][$0] - from.channels[c][$0]) }
            let signal = (0..<frameCount).reduce(0) { $0 + Double(from.channels[c][$1] * from.channels[c][$1]) }
            let error = errors.reduce(0) { $0 + $1 * $1 }
            #expect(10 * log10(signal / error) >= Self.resolution(type), "channel \(c)")
        }
    }

    @Test(
        "known samples are written as known bytes",
        arguments: [
            (SampleType.uint8, [128, 192, 64]), (.int16, [0, 0, 0, 0x40, 0, 0xC0]),
            (.int24, [0, 0, 0, 0, 0, 0x40, 0, 0, 0xC0]), (.int24In32, [0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0xC0, 0xFF]),
            (.int32, [0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0xC0]),
            (.float32, [0, 0, 0, 0, 0, 0, 0, 0x3F, 0, 0, 0, 0xBF]),
            (.float64, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xE0, 0x3F, 0, 0, 0, 0, 0, 0, 0xE0, 0xBF]),
        ] as [(SampleType, [UInt8])])
    func bytes(_ type: SampleType, _ expected: [UInt8]) {
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 3)
        for (i, sample) in [0, 0.5, -0.5].enumerated() { buffer.channels[0][i] = Float(sample) }
        let bytes = Bytes(type, channelCount: 1, frameCount: 3)
        type.write(buffer.channels, frameCount: 3, into: bytes.start, channelCount: 1)
        #expect(Array(UnsafeRawBufferPointer(start: bytes.start, count: bytes.count)) == expected)
    }

    @Test(
        "samples beyond full scale are clamped to full scale without wrapping around", arguments: SampleType.allCases,
        [1, 2])
    func saturation(_ type: SampleType, channelCount: Int) {
        let one: [Float] = [1, 0.99999994, 1.5, 1e30, .infinity, -1, -1.5, -1e30, -.infinity, .nan]
        let samples = one + one + one + one  // so that vector code meets each in every place
        let buffer = AudioBuffer(channelCount: channelCount, frameCapacity: samples.count)
        for c in 0..<channelCount { for (i, sample) in samples.enumerated() { buffer.channels[c][i] = sample } }
        let bytes = Bytes(type, channelCount: channelCount, frameCount: samples.count)
        type.write(buffer.channels, frameCount: samples.count, into: bytes.start, channelCount: channelCount)
        type.read(bytes.start, channelCount: channelCount, frameCount: samples.count, into: buffer.channels)
        for c in 0..<channelCount {
            let all = (0..<samples.count).map { buffer.channels[c][$0] }
            let back = Array(all.prefix(one.count))
            #expect(all == back + back + back + back)
            switch type {
            case .float32, .float64:
                #expect(back == [1, 0.99999994, 1.5, 1e30, 0, -1, -1.5, -1e30, 0, 0])
            default:
                #expect(back[0..<5].allSatisfy { $0 > 0.99 && $0 <= 1 }, "\(back)")
                #expect(back[5..<9].allSatisfy { $0 == -1 }, "\(back)")
                #expect(back[9] == 0)
            }
        }
    }

    @Test(
        "non-finite floating-point samples from a device are read as silence",
        arguments: [SampleType.float32, .float64])
    func notFinite(_ type: SampleType) {
        let words: [Double] = [.nan, .infinity, -.infinity, 0.25]
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 4)
        words.map(Float.init).withUnsafeBytes { floats in
            words.withUnsafeBytes { doubles in
                guard let start = (type == .float32 ? floats : doubles).baseAddress else { return }
                type.read(start, channelCount: 1, frameCount: 4, into: buffer.channels)
            }
        }
        #expect((0..<4).map { buffer.channels[0][$0] } == [0, 0, 0, 0.25])
    }

    @Test("the unused byte of 24-bit samples in 32 bits is ignored")
    func unusedByte() {
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 2)
        [0x7F40_0000, 0x01C0_0000 as UInt32].withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            SampleType.int24In32.read(start, channelCount: 1, frameCount: 2, into: buffer.channels)
        }
        #expect(buffer.channels[0][0] == 0.5 && buffer.channels[0][1] == -0.5)
    }

    @Test(
        "a channel map selects the device's channels, and missing channels are silent", arguments: SampleType.allCases)
    func maps(_ type: SampleType) {
        let frames = 5
        let from = AudioBuffer(channelCount: 3, frameCapacity: frames)
        for c in 0..<3 { for i in 0..<frames { from.channels[c][i] = Float(c + 1) / 4 } }
        let bytes = Bytes(type, channelCount: 4, frameCount: frames)
        // The device's channels 0…3 get the last one, nothing, one that does not exist, and the first.
        [2, -1, 3, 0].withUnsafeBufferPointer {
            type.write(from.channels, frameCount: frames, into: bytes.start, channelCount: 4, map: $0.baseAddress)
        }
        let to = MarkedBlock(channelCount: 5, frameCapacity: frames + 3)
        [3, 0, 1, 2, 4].withUnsafeBufferPointer {
            type.read(
                bytes.start, channelCount: 4, frameCount: frames, into: to.channels, offset: 2, map: $0.baseAddress)
        }
        for (c, value) in [0.25, 0.75, 0, 0, 0].enumerated() {
            #expect((0..<frames).allSatisfy { to.channels[c][2 + $0] == Float(value) }, "channel \(c)")
            #expect([0, 1, frames + 2].allSatisfy { to.channels[c][$0] == MarkedBlock.guardWord })
        }
        #expect(bytes.isKeptAround)
    }

    @Test(
        "channels are copied in order when the buffer has fewer or more than the device", arguments: SampleType.allCases
    )
    func inOrder(_ type: SampleType) {
        let from = AudioBuffer(channelCount: 2, frameCapacity: 3)
        for c in 0..<2 { for i in 0..<3 { from.channels[c][i] = Float(c + 1) / 4 } }
        let bytes = Bytes(type, channelCount: 3, frameCount: 3)
        type.write(from.channels, frameCount: 3, into: bytes.start, channelCount: 3)
        let to = AudioBuffer(channelCount: 4, frameCapacity: 3)
        for c in 0..<4 { for i in 0..<3 { to.channels[c][i] = 9 } }
        type.read(bytes.start, channelCount: 3, frameCount: 3, into: to.channels)
        #expect((0..<4).map { to.channels[$0][2] } == [0.25, 0.5, 0, 0])
    }

    @Test(
        "converting two channels at once gives the same result as one by one", arguments: SampleType.allCases,
        [1, 2, 7, 64, 701])
    func pairs(_ type: SampleType, frameCount: Int) {
        let from = AudioBuffer(channelCount: 2, frameCapacity: frameCount)
        Self.sine(from)
        let (together, apart) = (
            Bytes(type, channelCount: 2, frameCount: frameCount), Bytes(type, channelCount: 2, frameCount: frameCount)
        )
        let (a, b) = (
            AudioBuffer(channelCount: 2, frameCapacity: frameCount),
            AudioBuffer(channelCount: 2, frameCapacity: frameCount)
        )
        type.write(from.channels, frameCount: frameCount, into: together.start, channelCount: 2)
        type.read(together.start, channelCount: 2, frameCount: frameCount, into: a.channels)
        // With a map each channel is copied by itself.
        [0, 1].withUnsafeBufferPointer {
            type.write(
                from.channels, frameCount: frameCount, into: apart.start, channelCount: 2, map: $0.baseAddress)
            type.read(apart.start, channelCount: 2, frameCount: frameCount, into: b.channels, map: $0.baseAddress)
        }
        #expect(together.memory.elementsEqual(apart.memory))
        for c in 0..<2 { #expect((0..<frameCount).allSatisfy { a.channels[c][$0] == b.channels[c][$0] }) }
    }

    @Test(arguments: SampleType.allCases, 1...3)
    func `frames at an offset convert like frames without one`(type: SampleType, channelCount: Int) {
        let (frameCount, offset) = (21, 5)
        let whole = AudioBuffer(channelCount: channelCount, frameCapacity: offset + frameCount)
        Self.sine(whole)
        let part = AudioBuffer(channelCount: channelCount, frameCapacity: frameCount)
        for c in 0..<channelCount { copySamples(part.channels[c], whole.channels[c] + offset, frameCount) }
        let (behind, plain) = (
            Bytes(type, channelCount: channelCount, frameCount: frameCount),
            Bytes(type, channelCount: channelCount, frameCount: frameCount)
        )
        type.write(
            whole.channels, offset: offset, frameCount: frameCount, into: behind.start, channelCount: channelCount)
        type.write(part.channels, frameCount: frameCount, into: plain.start, channelCount: channelCount)
        #expect(behind.memory.elementsEqual(plain.memory))
        let to = AudioBuffer(channelCount: channelCount, frameCapacity: offset + frameCount)
        type.read(plain.start, channelCount: channelCount, frameCount: frameCount, into: part.channels)
        type.read(
            plain.start, channelCount: channelCount, frameCount: frameCount, into: to.channels, offset: offset)
        for c in 0..<channelCount {
            #expect((0..<offset).allSatisfy { to.channels[c][$0] == 0 })
            #expect((0..<frameCount).allSatisfy { to.channels[c][offset + $0] == part.channels[c][$0] })
        }
    }

    /// Reads words of a type and writes them again, as one channel and as several.
    private func expectExact<Word: FixedWidthInteger>(
        _ type: SampleType, _ words: [Word], of channelCounts: [Int] = [1, 2, 3], _ value: (Word) -> Float
    ) {
        for channelCount in channelCounts {
            let frames = words.count / channelCount
            let used = Array(words.prefix(frames * channelCount))
            let buffer = AudioBuffer(channelCount: channelCount, frameCapacity: frames)
            var bytes: [UInt8] = []
            for word in used {
                withUnsafeBytes(of: word.littleEndian) { bytes += $0.prefix(type.byteCount) }
            }
            bytes.withUnsafeBytes {
                type.read($0.baseAddress!, channelCount: channelCount, frameCount: frames, into: buffer.channels)
            }
            var wrong = 0
            for (n, word) in used.enumerated()
            where buffer.channels[n % channelCount][n / channelCount] != value(word) { wrong += 1 }
            #expect(wrong == 0, "of \(used.count) samples of \(channelCount) channels")
            var back = [UInt8](repeating: 0, count: bytes.count)
            back.withUnsafeMutableBytes {
                type.write(
                    buffer.channels, frameCount: frames, into: $0.baseAddress!, channelCount: channelCount)
            }
            #expect(back == bytes)
        }
    }

    @Test func `all 8-bit and 16-bit values are read exactly and written back unchanged`() {
        expectExact(.uint8, Array(UInt8.min...UInt8.max)) { (Float($0) - 128) / 128 }
        expectExact(.int16, Array(Int16.min...Int16.max) + [1, 2, 3, 4, 5]) { Float($0) / 32_768 }
    }

    /// A Float has 24 bits, so the low eight of 32 are 0 here.
    @Test func `24-bit values are read exactly and written back unchanged in every type that holds them`() {
        let edge: Int32 = 1 << 23
        var words: [Int32] = [-edge, -edge + 1, edge - 1, edge - 2, -1, 0, 1, 255, 256, -256, 65_535, 65_536, -65_536]
        words += (0..<3_000).map { Int32(truncatingIfNeeded: $0 &* 5_592 &- 8_388_000) }
        expectExact(.int24, words) { Float($0) / 8_388_608 }
        expectExact(.int24In32, words) { Float($0) / 8_388_608 }
        expectExact(.int32, words.map { $0 << 8 }) { Float($0) / 2_147_483_648 }
    }

    @Test(arguments: [
        (SampleType.uint8, 128.0), (.int16, 32_768), (.int24, 8_388_608), (.int24In32, 8_388_608),
    ]) func `a sample is rounded to the nearest value, and half-way to the even one`(type: SampleType, scale: Double) {
        let halves: [(Double, Double)] = [
            (0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2), (-2.5, -2), (0.51, 1), (0.49, 0), (-0.51, -1),
            (1.49, 1),
            (1_000.5, 1_000), (3.5, 4),
        ].filter { abs($0.0) < scale - 1 }
        for channelCount in 1...3 {
            let (from, to) = (
                AudioBuffer(channelCount: channelCount, frameCapacity: halves.count),
                AudioBuffer(channelCount: channelCount, frameCapacity: halves.count)
            )
            for c in 0..<channelCount {
                for (i, half) in halves.enumerated() { from.channels[c][i] = Float(half.0 / scale) }
            }
            let bytes = Bytes(type, channelCount: channelCount, frameCount: halves.count)
            type.write(from.channels, frameCount: halves.count, into: bytes.start, channelCount: channelCount)
            type.read(bytes.start, channelCount: channelCount, frameCount: halves.count, into: to.channels)
            for c in 0..<channelCount {
                let found = (0..<halves.count).map { Double(to.channels[c][$0]) * scale }
                #expect(found == halves.map(\.1), "\(channelCount) channels")
            }
        }
    }

    @Test(arguments: SampleType.allCases)
    func `a channel map works for a single channel, and an unmapped channel is left untouched`(type: SampleType) {
        let frames = 9
        let from = AudioBuffer(channelCount: 2, frameCapacity: frames)
        for c in 0..<2 { for i in 0..<frames { from.channels[c][i] = Float(c + 1) / 4 } }
        let bytes = Bytes(type, channelCount: 1, frameCount: frames)
        for (map, value) in [(0, 0.25), (1, 0.5), (2, 0), (-1, 0)] as [(Int, Float)] {
            withUnsafePointer(to: map) {
                type.write(from.channels, frameCount: frames, into: bytes.start, channelCount: 1, map: $0)
            }
            #expect(bytes.isKeptAround)
            let to = MarkedBlock(channelCount: 2, frameCapacity: frames)
            [1, 0].withUnsafeBufferPointer {
                type.read(bytes.start, channelCount: 1, frameCount: frames, into: to.channels, map: $0.baseAddress)
            }
            #expect((0..<frames).allSatisfy { to.channels[0][$0] == 0 && to.channels[1][$0] == value }, "\(map)")
            #expect(to.channels[0][frames] == MarkedBlock.guardWord && to.channels[1][-1] == MarkedBlock.guardWord)
        }
    }

    @Test(arguments: SampleType.allCases, [1, 2])
    func `exactly the requested number of frames is read`(type: SampleType, channelCount: Int) {
        let from = AudioBuffer(channelCount: channelCount, frameCapacity: 40)
        Self.sine(from)
        let bytes = Bytes(type, channelCount: channelCount, frameCount: 40)
        type.write(from.channels, frameCount: 40, into: bytes.start, channelCount: channelCount)
        for c in 0..<channelCount {
            for frames in [0, 1, 7, 8, 9, 15, 16, 17, 33] {
                let to = MarkedBlock(channelCount: channelCount, frameCapacity: 40)
                type.read(bytes.start, channelCount: channelCount, frameCount: frames, into: to.channels, offset: 2)
                #expect([0, 1, frames + 2, frames + 3].allSatisfy { to.channels[c][$0] == MarkedBlock.guardWord })
                #expect((0..<frames).allSatisfy { to.channels[c][$0 + 2] != MarkedBlock.guardWord })
            }
        }
    }

    @Test func `each sample type has its byte count and a distinct name`() {
        #expect(SampleType.allCases.map(\.byteCount) == [1, 2, 3, 4, 4, 4, 8])
        #expect(Set(SampleType.allCases.map(\.description)).count == 7)
        #expect(SampleType.int24.description == "24-bit packed" && SampleType.float64.description == "64-bit float")
    }
}
