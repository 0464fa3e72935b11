// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Divides Ogg pages into packets and counts their frames by the granule positions.
///
/// Uses the first parallel stream with a known codec; chained streams follow each other.
struct OggParser {
    /// The maximum length of a packet in bytes. Of a longer packet, parts that do not fit are left out.
    static let maximumPacketLength = 1 << 18
    /// The bytes without a page of a known stream after which parsing fails.
    static let searchLimit = 1 << 20

    private static let never = 1 << 60
    /// The seconds before a target frame at which decoding begins, unless the position is known more exactly.
    private static let reach = 4.0

    private var codec: OggCodec?
    private var serial = 0
    private var isBeginning = false  // true while the pages that begin streams are read
    private var unknown: (name: String, offset: Int)?
    private var partial: [UInt8]?  // of a packet that continues on the next page
    private var sequence = 0
    private var granule: Int?  // of the last frame so far; nil if unknown
    private var position = 0  // in frames of the sound
    private var origin = 0  // the sound's position of granule 0
    private var toSkip = 0
    private var hasFormat = false
    private var hasHadFormat = false
    private var ignored = 0  // bytes of pages of other streams
    private var skipped = 0
    private var checked = 0  // bytes of damaged pages whose checksum was computed
    private var index = SeekIndex()
    private var firstCodec: OggCodec?  // of the first stream, with all its headers
    private var streamCount = 0  // streams so far, one after the other
    private var isPlaced = true  // false after a seek, until a page has a position

    /// Parses the next page. Returns the number of bytes needed to continue; 0 to be called again at once, `.max` at the end.
    mutating func step(
        _ bytes: inout StreamBuffer, _ events: inout [AudioStreamEvent]
    ) throws(StreamParserError) -> Int {
        switch OggPage.find(bytes) {
        case .needs(let count):
            if !bytes.isAtEnd { return count }
            if bytes.count > 0 {
                try skip(1, &bytes)
                return 0
            }
            flushSkipped(bytes, &events)
            guard hasHadFormat else { throw .noPackets(byteCount: bytes.offset, offset: 0) }
            return .max
        case .none: try skip(1, &bytes)
        case .damaged(let length):
            // Searches for pages inside the damaged one, unless such searches have already cost a multiple of the stream's
            // length.
            checked += length
            try skip(checked > 8 * bytes.offset + 1 << 20 ? length : 1, &bytes)
        case .page(let page):
            flushSkipped(bytes, &events)
            try handlePage(page, bytes, &events)
            bytes.drop(page.length)
        }
        return 0
    }

    private mutating func skip(_ count: Int, _ bytes: inout StreamBuffer) throws(StreamParserError) {
        let next = count > 1 ? count : bytes.firstIndex(of: 0x4F, from: 1)
        skipped += next
        bytes.drop(next)
        guard skipped <= Self.searchLimit else {
            throw .noPackets(byteCount: skipped, offset: bytes.offset - skipped)
        }
    }

    private mutating func flushSkipped(_ bytes: StreamBuffer, _ events: inout [AudioStreamEvent]) {
        if skipped > 0 { events.append(.skipped(byteCount: skipped, offset: bytes.offset - skipped)) }
        skipped = 0
    }

    private mutating func handlePage(
        _ page: OggPage, _ bytes: StreamBuffer, _ events: inout [AudioStreamEvent]
    ) throws(StreamParserError) {
        let body = page.headerLength
        if page.isFirst {
            let first = page.pieces.first.map { bytes.copy(body..<body + $0.length) } ?? []
            return try begin(page, first, bytes.offset)
        }
        if isBeginning, codec == nil {
            let (name, offset) = unknown ?? ("an empty stream in Ogg", bytes.offset)
            throw .unsupported(detail: name, offset: offset)
        }
        isBeginning = false
        guard codec != nil, page.serial == serial else {
            ignored += page.length
            guard hasHadFormat && isPlaced || ignored <= Self.searchLimit else {
                throw .noPackets(byteCount: ignored, offset: bytes.offset + page.length - ignored)
            }
            return
        }
        let isInOrder = page.sequence == sequence
        sequence = page.sequence + 1
        if !isInOrder {
            partial = nil
            granule = nil
        }
        var packets: [[UInt8]] = []
        var at = body
        for (index, piece) in page.pieces.enumerated() {
            let range = at..<at + piece.length
            at += piece.length
            var packet: [UInt8] = []
            if index == 0, page.isContinued {
                guard partial != nil else { continue }  // the packet's beginning was lost
                packet = partial ?? []
                partial = nil  // so that `packet` grows without a copy
            }
            if packet.count + range.count <= Self.maximumPacketLength { packet.append(contentsOf: bytes.copy(range)) }
            partial = piece.isWhole ? nil : packet
            if piece.isWhole { packets.append(packet) }
        }
        try deliver(packets, page, bytes.offset, &events)
        if page.isLast { end() }
    }

    /// Handles a page that begins a stream.
    private mutating func begin(
        _ page: OggPage, _ first: [UInt8], _ offset: Int
    ) throws(StreamParserError) {
        if !isBeginning {
            end()
            isBeginning = true
        }
        guard codec == nil else { return }
        codec = OggCodec(first: first)
        guard codec != nil else {
            if unknown == nil { unknown = (OggCodec.name(first), offset) }
            return
        }
        serial = page.serial
        sequence = page.sequence + 1
        streamCount += 1
    }

    /// Ends the present stream; another may follow.
    private mutating func end() {
        codec = nil
        unknown = nil
        partial = nil
        granule = nil
        hasFormat = false
    }

    private mutating func deliver(
        _ packets: [[UInt8]], _ page: OggPage, _ offset: Int, _ events: inout [AudioStreamEvent]
    ) throws(StreamParserError) {
        var found: [(bytes: [UInt8], frames: Int)] = []
        for packet in packets {
            if let left = codec?.headersToCome, left > 0 {
                guard codec?.takeHeader(packet) == true else {
                    throw .damaged(detail: "a header of the sound is missing", offset: offset)
                }
            } else if let frames = codec?.frameCount(packet) {
                found.append((packet, frames))
            }
        }
        guard let codec, codec.headersToCome == 0 else { return }
        if !hasFormat {
            hasFormat = true
            hasHadFormat = true
            firstCodec = codec
            toSkip = codec.preSkip
            events.append(
                .format(
                    AudioStreamFormat(
                        container: .ogg, packets: codec.packetFormat, frameCount: nil, title: codec.title,
                        dataOffset: offset)))
            granule = nil
            origin = .min
        }
        let total = found.reduce(0) { $0 + $1.frames }
        guard !found.isEmpty else { return }
        place(total, page)
        // The last page may cut its packets short, so the position of its beginning is known only from the page before.
        if isPlaced, !page.isLast { index.note(byteOffset: offset, frame: position) }
        var at = granule ?? 0
        let last = page.isLast ? page.granulePosition ?? Self.never : Self.never
        for packet in found {
            let skippedFrames = min(packet.frames, toSkip)
            toSkip -= skippedFrames
            let heard = max(skippedFrames, min(packet.frames, last - at))
            events.append(
                .packet(
                    AudioStreamPacket(
                        framePosition: position, frameCount: packet.frames, audibleFrames: skippedFrames..<heard,
                        byteOffset: offset, bytes: packet.bytes)))
            position += heard - skippedFrames
            at += packet.frames
        }
        granule = at
    }

    /// Sets the position of a page's first packet, unless it follows from the previous page.
    private mutating func place(_ total: Int, _ page: OggPage) {
        guard granule == nil else { return }
        guard let end = page.granulePosition else {
            granule = 0
            if origin == .min { origin = position }
            return
        }
        var start = end - total
        if start < 0 {
            // Vorbis begins before 0 with frames that are not sound; in a stream of one page the end is cut instead.
            if !page.isLast, toSkip == 0 { toSkip = -start }
            start = page.isLast ? 0 : start
        }
        if origin == .min {
            // A stream joined in the middle begins at its granule position, a chained one at the end of the previous.
            if position == 0 { position = max(0, start) }
            origin = position - max(0, start)
        } else {
            let preSkip = codec?.preSkip ?? 0
            if !isPlaced { (toSkip, position, isPlaced) = (max(0, preSkip - start), 0, true) }
            position = min(max(position, origin + start + toSkip - preSkip), Self.never)
        }
        granule = start
    }

    // MARK: Seeking

    /// Returns the offset of a frame between pages already parsed; each page makes the offset more exact. nil if it is unknown
    /// yet.
    /// - Parameter byteCount: the bytes of the whole stream; nil if unknown.
    func hint(for frame: Int, byteCount: Int?) -> SeekHint? {
        guard streamCount == 1, let rate = firstCodec?.format.sampleRate, let first = index.marks.first,
            let last = index.marks.last
        else { return nil }
        let low = index.last(upTo: frame) ?? first
        let high = index.first(behind: frame)
        let isNear = Double(frame - low.frame) <= Self.reach * rate
        if isNear || high.map({ $0.byteOffset - low.byteOffset <= 1 << 16 }) ?? false {
            return SeekHint(byteOffset: low.byteOffset, framePosition: low.frame, isExact: true)
        }
        let (from, to) = high.map { (low, $0) } ?? (first, last)
        guard to.frame > from.frame else { return nil }
        let slope = Double(to.byteOffset - from.byteOffset) / Double(to.frame - from.frame)
        var at = Double(low.byteOffset) + slope * (Double(frame - low.frame) - rate)  // a second before the frame
        if let byteCount { at = min(at, Double(byteCount - 1 << 16)) }  // no page is longer
        return SeekHint(
            byteOffset: Int(max(Double(low.byteOffset), min(at, 1e15))), framePosition: frame, isExact: false)
    }

    /// Continues at a hint that ``hint(for:byteCount:)`` returned.
    mutating func resume(at hint: SeekHint) {
        codec = firstCodec
        codec?.forget()
        (isBeginning, hasFormat, isPlaced) = (false, true, false)
        (sequence, skipped, ignored, toSkip) = (-1, 0, 0, 0)
        position = hint.framePosition
    }
}
