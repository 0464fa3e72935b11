import AudioBase

/// Takes a stream of sound apart as its bytes come, in pieces of any size (Audio File Stream Services): MPEG audio of every layer,
/// AAC in ADTS, Opus and Vorbis in Ogg, WAVE.
///
/// What it finds does not depend on how the bytes are cut. It holds some 130 KiB at most, a packet of Ogg 256 KiB more, whatever
/// comes, and its work is in proportion to the bytes. Damage is left out and told; only what is no sound is an error.
///
/// One thread at a time; not for render threads.
public struct AudioStreamParser: Sendable {
    private enum Stage {
        case sniffing, framed, ogg, wav, ended
        case failed(StreamParserError)
    }

    private var stage = Stage.sniffing
    private var bytes: StreamBuffer
    private var framed: FramedParser
    private var ogg: OggParser
    private var wav = WAVParser()
    private var needed = 0
    private static let pieceLength = 1 << 14

    /// For a stream from its beginning, or from where a live one was joined.
    public init() {
        bytes = StreamBuffer()
        framed = FramedParser()
        ogg = OggParser()
    }

    /// For frames of MPEG audio or ADTS from the middle on, as a seek gives them.
    /// - Parameter hint: where the bytes begin, and which frame counts as the first.
    public init(resumingAt hint: SeekHint) {
        bytes = StreamBuffer(offset: hint.byteOffset)
        framed = FramedParser(position: hint.framePosition)
        ogg = OggParser(position: hint.framePosition)
    }

    /// Bytes taken and not consumed yet.
    public var heldByteCount: Int { bytes.count }

    /// Takes bytes, and adds what was found in them to `events`, also when it throws.
    /// - Throws: what is wrong, from then on in each call.
    public mutating func parse(
        _ new: UnsafeRawBufferPointer, into events: inout [AudioStreamEvent]
    ) throws(StreamParserError) {
        var rest = new[...]
        repeat {
            bytes.append(UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceLength)))
            rest = rest.dropFirst(Self.pieceLength)
            try work(&events)
        } while !rest.isEmpty
    }

    /// As ``parse(_:into:)-(UnsafeRawBufferPointer,_)``.
    public mutating func parse(
        _ new: [UInt8], into events: inout [AudioStreamEvent]
    ) throws(StreamParserError) {
        var failure: StreamParserError?
        new.withUnsafeBytes { bytes in
            do throws(StreamParserError) { try parse(bytes, into: &events) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// The stream is over: adds what its last bytes mean.
    /// - Throws: what is wrong with them, among it that there was no packet at all.
    public mutating func finish(into events: inout [AudioStreamEvent]) throws(StreamParserError) {
        bytes.isAtEnd = true
        needed = 0
        try work(&events)
    }

    /// Where in the bytes a frame of the sound is to be found, where that can be said so far; nil in Ogg.
    public func seekHint(forFrame frame: Int) -> SeekHint? {
        switch stage {
        case .framed: framed.hint(for: frame)
        case .wav: wav.hint(for: frame)
        default: nil
        }
    }

    private mutating func work(_ events: inout [AudioStreamEvent]) throws(StreamParserError) {
        if case .failed(let error) = stage { throw error }
        do {
            while bytes.isAtEnd || bytes.count >= max(1, needed) {
                needed = try step(&events)
                if needed == .max { return stage = .ended }
                if needed > 0, bytes.isAtEnd { needed = 0 }
            }
        } catch {
            stage = .failed(error)
            bytes.drop(bytes.count)
            throw error
        }
    }

    private mutating func step(_ events: inout [AudioStreamEvent]) throws(StreamParserError) -> Int {
        switch stage {
        case .sniffing: return try sniff()
        case .framed: return try framed.step(&bytes, &events)
        case .ogg: return try ogg.step(&bytes, &events)
        case .wav: return try wav.step(&bytes, &events)
        case .ended:
            bytes.drop(bytes.count)
            return bytes.isAtEnd ? .max : 1
        case .failed(let error): throw error
        }
    }

    private mutating func sniff() throws(StreamParserError) -> Int {
        if bytes.count < StreamContent.prefixLength, !bytes.isAtEnd { return StreamContent.prefixLength }
        if bytes.count == 0 { throw .noPackets(byteCount: 0, offset: bytes.offset) }
        if let tag = FramedParser.tagLength(bytes) {  // behind ID3 may stand anything
            bytes.drop(tag)
            return 0
        }
        let prefix = bytes.copy(0..<min(bytes.count, StreamContent.prefixLength))
        switch StreamContent(prefix: prefix) {
        case .wav: stage = .wav
        case .ogg: stage = .ogg
        case .unknown: stage = .framed
        case .m3u, .pls: throw .notAudio(found: "a playlist", offset: bytes.offset)
        case .otherSound(let name): throw .unsupported(detail: name, offset: bytes.offset)
        case .other(let name): throw .notAudio(found: name, offset: bytes.offset)
        }
        return 0
    }
}
