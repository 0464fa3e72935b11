// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Finds the frames of MPEG audio and ADTS, each with its own header.
///
/// The first frame is accepted if another of its kind, a tag or the stream's end follows. After it each frame is accepted until
/// one has no header. Tags (ID3, APE) between frames are skipped.
struct FramedParser {
    /// The bytes without a frame after which the stream is no sound: a picture may precede the first frame only in a tag.
    static let searchLimit = 1 << 20

    private var lastHeader: FrameHeader?  // of the last frame
    private var isSynchronised = false
    private var skipped = 0
    private var position = 0  // in frames of the sound
    private var packetIndex = 0  // packets since the format was sent
    private var header: VBRHeader?
    private var delay = 0  // frames to leave out at the beginning
    private var end = Int.max  // where the sound ends, in decoded frames
    private var dataOffset = 0
    private var firstLength = 0
    private var index = SeekIndex()  // by decoded frames
    private var measured = (packets: 0, bytes: 0, isConstant: true)  // since the format was sent, before any seek
    private var measuredRate = 0
    private var resumption: SeekHint?  // the hint of a seek, until the first frame after it
    private var hasSeeked = false  // a seek was made since the format was sent
    private var isPlaced = true  // true if `packetIndex` is known, not guessed

    /// The delay of MP3 decoders in frames.
    private static let decoderDelay = 529

    /// Parses the next frame or tag. Returns the number of bytes needed to continue; 0 to be called again at once, `.max` at the
    /// end.
    mutating func step(
        _ bytes: inout StreamBuffer, _ events: inout [AudioStreamEvent]
    ) throws(StreamParserError) -> Int {
        if bytes.count < 32, !bytes.isAtEnd { return 32 }  // the bytes of a tag's header
        if bytes.count == 0 { return try end(bytes, &events) }
        if skipped == 0, let tag = Self.tagLength(bytes) {
            bytes.drop(tag)
            return 0
        }
        guard let frame = FrameHeader(bytes, at: 0), frame.isPlain, isExpected(frame) else {
            return try search(&bytes)
        }
        let lookahead = isSynchronised ? frame.length : frame.length + 32
        if bytes.count < lookahead, !bytes.isAtEnd { return lookahead }
        guard bytes.count >= frame.length, isSynchronised || frame.isFollowed(in: bytes) else {
            return try search(&bytes)
        }
        isSynchronised = true
        flushSkipped(bytes, &events)
        if lastHeader.map({ !$0.continues(frame) || $0.channelCount != frame.channelCount }) ?? true {
            begin(frame, bytes, &events)
            if header != nil {
                bytes.drop(frame.length)
                return 0
            }
        }
        lastHeader = frame
        land(frame, bytes.offset)
        emit(frame, bytes, &events)
        bytes.drop(frame.length)
        return 0
    }

    private func isExpected(_ frame: FrameHeader) -> Bool {
        guard let lastHeader else { return true }
        if resumption != nil { return frame.continues(lastHeader) && frame.channelCount == lastHeader.channelCount }
        return !isSynchronised || frame.continues(lastHeader)
    }

    /// Begins a stream of frames like `frame`: sends the format, and reads the stream's description in this first frame.
    private mutating func begin(
        _ frame: FrameHeader, _ bytes: StreamBuffer, _ events: inout [AudioStreamEvent]
    ) {
        lastHeader = frame
        (packetIndex, firstLength) = (0, frame.length)
        (delay, end, dataOffset) = (0, .max, bytes.offset)
        header = VBRHeader(bytes, frame)
        (measured, hasSeeked, isPlaced) = ((0, 0, header?.isVariable != true), false, true)
        index = SeekIndex()
        var frameCount: Int?
        if let header {
            dataOffset += frame.length
            if let count = header.packetCount, count > 0 { frameCount = count * frame.frameCount }
            if let before = header.delay, let all = frameCount, all > before + header.padding {
                delay = before + Self.decoderDelay
                end = min(all, all - header.padding + Self.decoderDelay)
                frameCount = all - before - header.padding
            }
        }
        events.append(
            .format(
                AudioStreamFormat(
                    container: frame.codec == .aac ? .adts : .mpegAudio, packets: frame.packetFormat,
                    frameCount: frameCount, title: nil, dataOffset: dataOffset)))
    }

    private mutating func emit(_ frame: FrameHeader, _ bytes: StreamBuffer, _ events: inout [AudioStreamEvent]) {
        let start = packetIndex * frame.frameCount
        var audible = 0..<frame.frameCount
        if isPlaced { index.note(byteOffset: bytes.offset, frame: start) }
        if let count = header?.packetCount, isPlaced, packetIndex < count {  // later frames are all sound
            let first = min(max(delay - start, 0), frame.frameCount)
            audible = first..<max(first, min(frame.frameCount, end - start))
        }
        events.append(
            .packet(
                AudioStreamPacket(
                    framePosition: position, frameCount: frame.frameCount, audibleFrames: audible,
                    byteOffset: bytes.offset, bytes: bytes.copy(frame.prefixLength..<frame.length))))
        position += audible.count
        packetIndex += 1
        guard !hasSeeked else { return }
        if measured.packets > 0, frame.bitRate != measuredRate { measured.isConstant = false }
        measuredRate = frame.bitRate
        measured.packets += 1
        measured.bytes += frame.length
    }

    /// Skips bytes up to the next possible frame.
    private mutating func search(_ bytes: inout StreamBuffer) throws(StreamParserError) -> Int {
        isSynchronised = false
        let next = bytes.firstIndex(of: 0xFF, from: 1)
        skipped += next
        bytes.drop(next)
        guard skipped <= Self.searchLimit else {
            throw .noPackets(byteCount: skipped, offset: bytes.offset - skipped)
        }
        return 0
    }

    private mutating func flushSkipped(_ bytes: StreamBuffer, _ events: inout [AudioStreamEvent]) {
        if skipped > 0 { events.append(.skipped(byteCount: skipped, offset: bytes.offset - skipped)) }
        skipped = 0
    }

    private mutating func end(
        _ bytes: StreamBuffer, _ events: inout [AudioStreamEvent]
    ) throws(StreamParserError) -> Int {
        flushSkipped(bytes, &events)
        guard lastHeader != nil else { throw .noPackets(byteCount: bytes.offset, offset: 0) }
        return .max
    }

    /// Returns the length in bytes of the tag at the beginning of `bytes`; nil if there is none.
    static func tagLength(_ bytes: StreamBuffer) -> Int? {
        if let length = ID3Prefix.length(bytes) { return length }
        if bytes.begins(with: "TAG") { return 128 }
        if bytes.begins(with: "APETAGEX"), bytes.count >= 32 {
            let size = bytes.littleEndian(12, 4)
            return size <= 1 << 24 ? 32 + (bytes[23] & 0x20 != 0 ? size : 0) : nil
        }
        return nil
    }

    // MARK: Seeking

    /// The average bytes of a frame if all frames have the same bit rate, so that offsets are known up to the padding of one to
    /// four bytes; otherwise nil.
    private var constantLength: Double? {
        guard let lastHeader, let length = lastHeader.averageLength, measured.isConstant, measured.packets > 0,
            abs(Double(measured.bytes) - Double(measured.packets) * length) <= (lastHeader.codec == .mp1 ? 8 : 2)
        else { return nil }
        return length
    }

    /// Returns the offset of a frame: by the constant bit rate, by frames already parsed, by the table in the first frame, or by
    /// the average length so far; nil before the first frame.
    func hint(for frame: Int) -> SeekHint? {
        guard let lastHeader, measured.packets > 0 else { return nil }
        // The first frame of sound needs the packets before it.
        let packet = frame == 0 ? 0 : (frame + delay) / lastHeader.frameCount
        let decoded = packet * lastHeader.frameCount
        let first = max(0, decoded - delay)
        if let length = constantLength {
            return SeekHint(
                byteOffset: dataOffset + Int(Double(packet) * length), framePosition: first, isExact: true)
        }
        if let last = index.marks.last, decoded <= last.frame, let mark = index.last(upTo: decoded) {
            return SeekHint(byteOffset: mark.byteOffset, framePosition: max(0, mark.frame - delay), isExact: true)
        }
        if let at = tableOffset(of: frame + delay, lastHeader) {
            return SeekHint(byteOffset: max(dataOffset, at), framePosition: first, isExact: false)
        }
        let base = index.marks.last ?? SeekIndex.Mark(byteOffset: dataOffset, frame: 0)
        let average = Double(measured.bytes) / Double(measured.packets * lastHeader.frameCount)
        return SeekHint(
            byteOffset: base.byteOffset + Int(Double(decoded - base.frame) * average), framePosition: first,
            isExact: false)
    }

    private func tableOffset(of decoded: Int, _ frame: FrameHeader) -> Int? {
        guard let header, let count = header.packetCount, let size = header.byteCount, count > 0,
            header.table.count == 100
        else { return nil }
        let share = min(1, Double(decoded) / Double(count * frame.frameCount))
        let index = min(99, Int(share * 100))
        let low = Double(header.table[index])
        let high = index == 99 ? 256 : Double(header.table[index + 1])
        let at = (low + (high - low) * (share * 100 - Double(index))) / 256 * Double(size)
        return dataOffset - firstLength + Int(at)
    }

    /// Continues at a hint that ``hint(for:)`` returned.
    mutating func resume(at hint: SeekHint) {
        (isSynchronised, skipped, hasSeeked) = (false, 0, true)
        (resumption, position, isPlaced) = (hint, hint.framePosition, hint.isExact)
    }

    /// Sets the position after a seek, from the offset of the first frame.
    private mutating func land(_ frame: FrameHeader, _ offset: Int) {
        guard let hint = resumption else { return }
        resumption = nil
        guard isPlaced else { return }
        if offset == hint.byteOffset, offset == dataOffset {
            packetIndex = 0
        } else if let length = constantLength {
            packetIndex = max(0, Int((Double(offset - dataOffset) / length).rounded()))
        } else if offset == hint.byteOffset {
            packetIndex = (hint.framePosition + delay) / frame.frameCount
        } else {  // the bytes are not those parsed before
            isPlaced = false
            return
        }
        position = max(0, packetIndex * frame.frameCount - delay)
    }
}
