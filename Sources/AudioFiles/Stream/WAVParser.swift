// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Parses a WAVE file incrementally: RIFF, or RF64 (EBU Tech 3306), also of unknown length.
struct WAVParser {
    /// The number of bytes before the sound after which parsing fails.
    static let searchLimit = 1 << 24
    private static let maximumFormatLength = 1 << 12

    private struct Layout {
        let packets: PacketFormat
        let frameLength: Int
        var packetLength: Int { frameLength * (packets.framesPerPacket ?? 1) }
    }

    private var hasBegun = false
    private var layout: Layout?
    private var longLength: Int?  // bytes of the sound in RF64
    private var dataOffset = 0
    private var soundLength: Int?  // in bytes; nil if unknown
    private var remainingByteCount: Int?  // bytes of sound still to come; nil before the sound
    private var position = 0

    /// Parses the next chunk or packet. Returns the number of bytes needed to continue; 0 to be called again at once, `.max` if
    /// the remaining bytes do not matter.
    mutating func step(
        _ bytes: inout StreamBuffer, _ events: inout [AudioStreamEvent]
    ) throws(StreamParserError) -> Int {
        if let remainingByteCount, let layout { return takeSound(remainingByteCount, layout, &bytes, &events) }
        if !hasBegun {
            guard bytes.count >= 12 else { return try missing(12, bytes) }
            hasBegun = true
            bytes.drop(12)
        }
        guard bytes.count >= 8 else { return try missing(8, bytes) }
        let length = bytes.littleEndian(4, 4)
        if bytes.begins(with: "data") { return try beginSound(length, &bytes, &events) }
        if bytes.begins(with: "fmt ") {
            guard length >= 16, length <= Self.maximumFormatLength else {
                throw .damaged(detail: "a format of \(length) bytes", offset: bytes.offset)
            }
            guard bytes.count >= 8 + length else { return try missing(8 + length, bytes) }
            layout = try Self.readLayout(bytes, length)
        } else if bytes.begins(with: "ds64") {
            guard bytes.count >= 24 else { return try missing(24, bytes) }
            let size = bytes.littleEndian(16, 8)
            longLength = size > 0 ? size : nil
        }
        bytes.drop(8 + length + length % 2)
        guard bytes.offset <= Self.searchLimit else {
            throw .noPackets(byteCount: bytes.offset, offset: 0)
        }
        return 0
    }

    private func missing(_ count: Int, _ bytes: StreamBuffer) throws(StreamParserError) -> Int {
        guard !bytes.isAtEnd else { throw .damaged(detail: "it ends before its sound", offset: bytes.offset) }
        return count
    }

    private mutating func beginSound(
        _ length: Int, _ bytes: inout StreamBuffer, _ events: inout [AudioStreamEvent]
    ) throws(StreamParserError) -> Int {
        guard let layout else { throw .damaged(detail: "sound before its format", offset: bytes.offset) }
        bytes.drop(8)
        dataOffset = bytes.offset
        // A writer to a pipe does not know the length and writes the maximum, or 0.
        let isKnown = length != 0 && length < 0x7FFF_0000
        let size = length == 0xFFFF_FFFF ? longLength : isKnown ? length : nil
        soundLength = size
        remainingByteCount = size ?? .max
        events.append(
            .format(
                AudioStreamFormat(
                    container: .wav, packets: layout.packets, frameCount: size.map { $0 / layout.frameLength },
                    title: nil, dataOffset: dataOffset)))
        return 0
    }

    private mutating func takeSound(
        _ remainingByteCount: Int, _ layout: Layout, _ bytes: inout StreamBuffer, _ events: inout [AudioStreamEvent]
    ) -> Int {
        var length = min(remainingByteCount, layout.packetLength)
        if bytes.count < length {
            if !bytes.isAtEnd { return length }
            length = bytes.count
        }
        length -= length % layout.frameLength
        guard length > 0 else {
            bytes.drop(bytes.count)
            return .max
        }
        let frames = length / layout.frameLength
        events.append(
            .packet(
                AudioStreamPacket(
                    framePosition: position, frameCount: frames, audibleFrames: 0..<frames,
                    byteOffset: bytes.offset, bytes: bytes.copy(0..<length))))
        position += frames
        bytes.drop(length)
        if remainingByteCount != .max { self.remainingByteCount = remainingByteCount - length }
        return 0
    }

    private static func readLayout(_ bytes: StreamBuffer, _ length: Int) throws(StreamParserError) -> Layout {
        var tag = bytes.littleEndian(8, 2)
        let channels = bytes.littleEndian(10, 2)
        let rate = bytes.littleEndian(12, 4)
        let frameLength = bytes.littleEndian(20, 2)
        let offset = bytes.offset
        if tag == 0xFFFE, length >= 40 { tag = bytes.littleEndian(32, 2) }
        guard AudioFormat.channelCounts.contains(channels), AudioFormat.sampleRates.contains(Double(rate)) else {
            throw .unsupported(detail: "WAVE of \(channels) channels at \(rate) Hz", offset: offset)
        }
        guard frameLength > 0, frameLength % channels == 0 else {
            throw .damaged(detail: "frames of \(frameLength) bytes for \(channels) channels", offset: offset)
        }
        let type: SampleType
        switch (tag, frameLength / channels) {
        case (1, 1): type = .uint8
        case (1, 2): type = .int16
        case (1, 3): type = .int24
        case (1, 4): type = .int32
        case (3, 4): type = .float32
        case (3, 8): type = .float64
        default:
            throw .unsupported(
                detail: "WAVE of kind \(tag) with \(frameLength / channels) bytes a sample", offset: offset)
        }
        let frames = min(1_024, max(1, 32_768 / frameLength))
        let packets = PacketFormat(
            codec: .pcm(type), format: AudioFormat(sampleRate: Double(rate), channelCount: channels),
            framesPerPacket: frames)
        return Layout(packets: packets, frameLength: frameLength)
    }

    /// Returns the exact offset of a frame, clamped to the sound's end; nil before the sound.
    func hint(for frame: Int) -> SeekHint? {
        guard let layout, remainingByteCount != nil else { return nil }
        let frame = min(frame, soundLength.map { $0 / layout.frameLength } ?? .max)
        return SeekHint(byteOffset: dataOffset + frame * layout.frameLength, framePosition: frame, isExact: true)
    }

    /// Continues at a hint that ``hint(for:)`` returned.
    mutating func resume(at hint: SeekHint) {
        position = hint.framePosition
        remainingByteCount = soundLength.map { max(0, $0 - (hint.byteOffset - dataOffset)) } ?? .max
    }
}
