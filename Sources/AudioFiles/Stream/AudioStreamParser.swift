// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Parses a stream of sound incrementally, from pieces of any size (Audio File Stream Services): MPEG audio of every layer, AAC
/// in ADTS, Opus and Vorbis in Ogg, WAVE.
///
/// The result does not depend on the division into pieces. It stores at most 130 KiB, and 256 KiB more for an Ogg packet, and its
/// work is proportional to the bytes. Damaged bytes are skipped and reported; only a stream that is not sound is an error.
///
/// For one thread at a time; never a render thread.
public struct AudioStreamParser: Sendable {
    private enum Stage { case detecting, framed, ogg, wav }

    private var stage = Stage.detecting
    private var isOver = false  // the remaining bytes do not matter
    private var failure: StreamParserError?
    private var bytes = StreamBuffer()
    private var framed = FramedParser()
    private var ogg = OggParser()
    private var wav = WAVParser()
    private var neededByteCount = 0
    private static let pieceLength = 1 << 14

    /// Creates a parser for a stream from its beginning, or for a live one from anywhere.
    public init() {}

    /// The bytes received and not yet parsed.
    package var heldByteCount: Int { bytes.count }

    /// Parses bytes and appends the packets and tags found to `events`, also when it throws.
    /// - Throws: the stream's error, also from all later calls.
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

    /// The same as ``parse(_:into:)-(UnsafeRawBufferPointer,_)``.
    public mutating func parse(
        _ new: [UInt8], into events: inout [AudioStreamEvent]
    ) throws(StreamParserError) {
        var failure: StreamParserError?
        new.withUnsafeBytes { bytes in
            do throws(StreamParserError) { try parse(bytes, into: &events) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Ends the stream and appends the events of its last bytes.
    /// - Throws: the error of the last bytes, or ``StreamParserError/noPackets(byteCount:offset:)`` if the stream had no packet.
    public mutating func finish(into events: inout [AudioStreamEvent]) throws(StreamParserError) {
        bytes.isAtEnd = true
        neededByteCount = 0
        try work(&events)
    }

    /// Returns the byte offset for a frame (`AudioFileStreamSeek`); nil if it is unknown yet, and always for an Ogg file of
    /// several streams.
    ///
    /// The offset is exact in WAVE, in MPEG audio of a constant bit rate, and in what was parsed already. In Ogg the first packet
    /// after ``resume(at:)`` has the actual position, and each such packet makes the next hint more exact.
    /// - Parameters:
    ///   - frame: 0 or more, at the stream's rate.
    ///   - byteCount: the bytes of the whole stream; nil if unknown.
    package func seekHint(forFrame frame: Int, byteCount: Int? = nil) -> SeekHint? {
        let frame = min(max(0, frame), 1 << 40)
        return switch stage {
        case .framed: framed.hint(for: frame)
        case .ogg: ogg.hint(for: frame, byteCount: byteCount)
        case .wav: wav.hint(for: frame)
        case .detecting: nil
        }
    }

    /// Continues at a hint: the next bytes must be those from the hint's offset on. Headers stay known, and the format is not
    /// sent again. A decoder needs some packets until its output is right.
    /// - Parameter hint: a hint that this parser returned.
    package mutating func resume(at hint: SeekHint) {
        bytes = StreamBuffer(offset: hint.byteOffset)
        (neededByteCount, isOver, failure) = (0, false, nil)
        switch stage {
        case .framed: framed.resume(at: hint)
        case .ogg: ogg.resume(at: hint)
        case .wav: wav.resume(at: hint)
        case .detecting: break
        }
    }

    private mutating func work(_ events: inout [AudioStreamEvent]) throws(StreamParserError) {
        if let failure { throw failure }
        do {
            while bytes.isAtEnd || bytes.count >= max(1, neededByteCount) {
                neededByteCount = try step(&events)
                if neededByteCount == .max {
                    isOver = true
                    return
                }
                if neededByteCount > 0, bytes.isAtEnd { neededByteCount = 0 }
            }
        } catch {
            failure = error
            bytes.drop(bytes.count)
            throw error
        }
    }

    private mutating func step(_ events: inout [AudioStreamEvent]) throws(StreamParserError) -> Int {
        if isOver {
            bytes.drop(bytes.count)
            return bytes.isAtEnd ? .max : 1
        }
        switch stage {
        case .detecting: return try detectFormat()
        case .framed: return try framed.step(&bytes, &events)
        case .ogg: return try ogg.step(&bytes, &events)
        case .wav: return try wav.step(&bytes, &events)
        }
    }

    private mutating func detectFormat() throws(StreamParserError) -> Int {
        if bytes.count < StreamContent.prefixLength, !bytes.isAtEnd { return StreamContent.prefixLength }
        if bytes.count == 0 { throw .noPackets(byteCount: 0, offset: bytes.offset) }
        if let tag = FramedParser.tagLength(bytes) {  // anything may follow an ID3 tag
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
