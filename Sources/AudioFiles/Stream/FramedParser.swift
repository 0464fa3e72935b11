import AudioBase

/// Finds the frames of MPEG audio and of ADTS, which begin with a header each and follow one another.
///
/// A frame is believed where another of its kind, a tag or the stream's end follows; from then on each is taken as it comes,
/// until one has no header. Tags (ID3, APE) between frames are left out.
struct FramedParser {
    /// Bytes without a frame after which there is none: a picture may stand before the first, but in a tag.
    static let searchLimit = 1 << 20

    private var current: FrameHeader?  // of the frames that came last
    private var isSynchronised = false
    private var skipped = 0
    private var position: Int  // in the sound
    private var packetIndex = 0  // since the format was told
    private var header: VBRHeader?
    private var delay = 0  // frames to leave out at the beginning
    private var end = Int.max  // of the sound, in decoded frames
    private var dataOffset = 0
    private var packetBytes = 0  // of all packets since the format was told, headers and all
    private var firstLength = 0

    /// MP3 decoders are this many frames late.
    private static let decoderDelay = 529

    init(position: Int = 0) { self.position = position }

    /// Takes what it can from the bytes; returns how many it needs to go on, 0 to be called at once.
    mutating func step(
        _ bytes: inout StreamBuffer, _ events: inout [AudioStreamEvent]
    ) throws(StreamParserError) -> Int {
        if bytes.count < 32, !bytes.isAtEnd { return 32 }  // what a tag's header takes
        if bytes.count == 0 { return try end(bytes, &events) }
        if skipped == 0, let tag = Self.tagLength(bytes) {
            bytes.drop(tag)
            return 0
        }
        guard let frame = FrameHeader(bytes, at: 0), frame.isPlain,
            isSynchronised ? frame.continues(current ?? frame) : true
        else { return try search(&bytes) }
        let lookahead = isSynchronised ? frame.length : frame.length + 32
        if bytes.count < lookahead, !bytes.isAtEnd { return lookahead }
        guard bytes.count >= frame.length, isSynchronised || frame.isFollowed(in: bytes) else {
            return try search(&bytes)
        }
        isSynchronised = true
        flushSkipped(bytes, &events)
        if current.map({ !$0.continues(frame) || $0.channelCount != frame.channelCount }) ?? true {
            begin(frame, bytes, &events)
            if header != nil {
                bytes.drop(frame.length)
                return 0
            }
        }
        current = frame
        emit(frame, bytes, &events)
        bytes.drop(frame.length)
        return 0
    }

    /// Tells the format, and learns what the first frame says of the others.
    private mutating func begin(
        _ frame: FrameHeader, _ bytes: StreamBuffer, _ events: inout [AudioStreamEvent]
    ) {
        current = frame
        (packetIndex, packetBytes, firstLength) = (0, 0, frame.length)
        (delay, end, dataOffset) = (0, .max, bytes.offset)
        header = VBRHeader(bytes, frame)
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
        if let count = header?.packetCount, packetIndex < count {  // more frames than the header knows are sound
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
        packetBytes += frame.length
    }

    /// Leaves out bytes up to where a frame might begin.
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
        guard current != nil else { throw .noPackets(byteCount: bytes.offset, offset: 0) }
        return .max
    }

    /// Bytes of a tag that begins here.
    static func tagLength(_ bytes: StreamBuffer) -> Int? {
        if let length = ID3Prefix.length(bytes) { return length }
        if bytes.begins(with: "TAG") { return 128 }
        if bytes.begins(with: "APETAGEX"), bytes.count >= 32 {
            let size = bytes.littleEndian(12, 4)
            return size <= 1 << 24 ? 32 + (bytes[23] & 0x20 != 0 ? size : 0) : nil
        }
        return nil
    }

    /// Where a frame of the sound is to be found: by the table of the first frame, or by the packets' average length.
    func hint(for frame: Int) -> SeekHint? {
        guard let current, packetBytes > 0 else { return nil }
        let decoded = frame + delay
        if let header, let count = header.packetCount, let size = header.byteCount, count > 0, header.table.count == 100
        {
            let share = min(1, Double(decoded) / Double(count * current.frameCount))
            let index = min(99, Int(share * 100))
            let low = Double(header.table[index])
            let high = index == 99 ? 256 : Double(header.table[index + 1])
            let at = (low + (high - low) * (share * 100 - Double(index))) / 256 * Double(size)
            return SeekHint(byteOffset: dataOffset - firstLength + Int(at), framePosition: frame, isExact: false)
        }
        let index = decoded / current.frameCount
        let average = Double(packetBytes) / Double(packetIndex)
        let first = max(0, index * current.frameCount - delay)
        return SeekHint(
            byteOffset: dataOffset + Int(Double(index) * average), framePosition: first, isExact: false)
    }
}
