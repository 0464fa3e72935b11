// SPDX-License-Identifier: Apache-2.0

import CEarshotLibAVFormat
import EarshotAudioFiles

/// A file's sound as its demultiplexer describes it: the packets, the decoder's parameters and the times.
struct CodedTrack {
    var packets: PacketTable
    var timing: TrackTiming
    let parameters: CodecParameters
}

/// The parameters that a decoder needs before a stream's first packet.
final class CodecParameters {
    /// libavcodec's own structure.
    let pointer: UnsafeMutablePointer<AVCodecParameters>

    private init() {
        guard let pointer = avcodec_parameters_alloc() else { fatalError("out of memory") }
        self.pointer = pointer
    }

    /// Copies the parameters of a stream.
    convenience init(copying other: UnsafePointer<AVCodecParameters>) {
        self.init()
        if avcodec_parameters_copy(pointer, other) < 0 { fatalError("out of memory") }
    }

    /// Returns the parameters of an ADTS stream. Its packets declare the others.
    static func adts() -> CodecParameters {
        let parameters = CodecParameters()
        parameters.pointer.pointee.codec_type = AVMEDIA_TYPE_AUDIO
        parameters.pointer.pointee.codec_id = AV_CODEC_ID_AAC
        return parameters
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVCodecParameters>? = pointer
        avcodec_parameters_free(&pointer)
    }
}

/// Reads the first sound track of an MP4, M4A or QuickTime file that can be decoded, with libavformat.
///
/// libavformat may read only this file: names of other files and addresses in it are refused.
enum MovieScanner {
    /// The codecs that are supported in such a file.
    static let codecs = [
        AV_CODEC_ID_AAC, AV_CODEC_ID_ALAC, AV_CODEC_ID_MP3, AV_CODEC_ID_FLAC, AV_CODEC_ID_OPUS, AV_CODEC_ID_AC3,
    ]
    /// The most bytes that the library may allocate at once: enough for an index of eleven million packets.
    private static let maximumAllocation = 256 << 20
    private static let ioByteCount = 1 << 15

    /// Returns true if a file begins as MP4 and has more than its first box.
    private static func isMovie(_ file: ReadableFile) -> Bool {
        let head = file.bytes(at: 0, count: 256)
        return head.count == 256 && head[4..<8].elementsEqual("ftyp".utf8)
    }

    /// - Throws: ``AudioFileError/notAudio(path:reason:)``, ``AudioFileError/damaged(path:reason:)`` without an index.
    static func scan(_ file: ReadableFile) throws(AudioFileError) -> CodedTrack {
        let boxes = MovieBoxes(file)
        let source = FileSource(file)
        let input: Input
        do throws(AudioFileError) { input = try Input(source) } catch {
            guard case .notAudio = error, !boxes.hasIndex, isMovie(file) else { throw error }
            throw .damaged(path: file.path, reason: "its index is missing, as in a file that was cut off")
        }
        defer { input.close() }
        guard let context = input.context, let stream = firstSound(context) else {
            throw .notAudio(
                path: file.path, reason: "no sound in it of a known codec (AAC, Apple Lossless, MP3, FLAC, Opus, AC-3)")
        }
        // Only reads the fragments' headers, since every stream discards its packets.
        if boxes.isFragmented, let packet = av_packet_alloc() {
            for i in 0..<Int(context.pointee.nb_streams) {
                context.pointee.streams[i]?.pointee.discard = AVDISCARD_ALL
            }
            while av_read_frame(context, packet) >= 0 { av_packet_unref(packet) }
            var freed: UnsafeMutablePointer<AVPacket>? = packet
            av_packet_free(&freed)
        }
        if let error = source.error { throw error }
        let track = CodedTrack(
            packets: packets(stream), timing: timing(context, stream, boxes),
            parameters: CodecParameters(copying: stream.pointee.codecpar))
        // Each packet has at least one byte.
        guard track.packets.count <= file.byteCount else {
            throw .notAudio(path: file.path, reason: "it claims \(track.packets.count) packets")
        }
        return track
    }

    private static func firstSound(_ context: UnsafeMutablePointer<AVFormatContext>) -> UnsafeMutablePointer<AVStream>?
    {
        (0..<Int(context.pointee.nb_streams)).lazy.compactMap { context.pointee.streams[$0] }.first {
            guard let parameters = $0.pointee.codecpar else { return false }
            return parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO && codecs.contains(parameters.pointee.codec_id)
        }
    }

    private static func packets(_ stream: UnsafeMutablePointer<AVStream>) -> PacketTable {
        var table = PacketTable()
        let count = Int(earshot_av_index_count(stream))
        table.reserve(count)
        for i in 0..<count {
            guard let entry = earshot_av_index_entry(stream, CInt(i)) else { break }
            table.append(offset: Int(entry.pointee.pos), size: Int(entry.pointee.size))
        }
        return table
    }

    private static func timing(
        _ context: UnsafeMutablePointer<AVFormatContext>, _ stream: UnsafeMutablePointer<AVStream>, _ boxes: MovieBoxes
    ) -> TrackTiming {
        var timing = TrackTiming()
        let base = stream.pointee.time_base
        if base.num == 1, base.den > 0 { timing.timescale = Int(base.den) }
        timing.mediaDuration = max(0, Int(stream.pointee.duration))
        if let edit = boxes.edits[Int(stream.pointee.id)] {
            timing.editStart = edit.start
            timing.editTimescale = boxes.timescale
            timing.editDuration = edit.duration
        }
        if let entry = av_dict_get(context.pointee.metadata, "iTunSMPB", nil, 0), let value = entry.pointee.value {
            timing.gapless = gapless(String(cString: value))
        }
        return timing
    }

    /// Parses Apple's comment: hexadecimal words, of which the second is the priming and the fourth the sound's length.
    static func gapless(_ comment: String) -> (priming: Int, valid: Int)? {
        let words = comment.split(separator: " ").prefix(4).map { Int($0, radix: 16) }
        guard words.count == 4, let priming = words[1], let valid = words[3],
            (0..<16_384).contains(priming), valid > 0, valid < 1 << 50
        else { return nil }
        return (priming, valid)
    }

    /// libavformat's context for reading our file.
    private struct Input {
        private(set) var context: UnsafeMutablePointer<AVFormatContext>?
        private var io: UnsafeMutablePointer<AVIOContext>?

        init(_ source: FileSource) throws(AudioFileError) {
            let path = source.file.path
            earshot_av_quiet()  // it would write to standard error by itself
            av_max_alloc(MovieScanner.maximumAllocation)
            guard let buffer = av_malloc(MovieScanner.ioByteCount) else { throw .system(path: path, code: 12) }
            io = avio_alloc_context(
                buffer.assumingMemoryBound(to: UInt8.self), CInt(MovieScanner.ioByteCount), 0,
                Unmanaged.passUnretained(source).toOpaque(), FileSource.readCallback, nil, FileSource.seekCallback)
            context = avformat_alloc_context()
            context?.pointee.pb = io
            context?.pointee.io_open = { _, _, _, _, _ in earshot_av_refused() }
            context?.pointee.max_streams = 64
            var options: OpaquePointer?
            av_dict_set(&options, "ignore_editlist", "1", 0)
            av_dict_set(&options, "ignore_chapters", "1", 0)
            let code = avformat_open_input(&context, nil, av_find_input_format("mov"), &options)
            av_dict_free(&options)
            if let error = source.error {
                close()
                throw error
            }
            guard code >= 0 else {
                close()
                throw .notAudio(path: path, reason: "libavformat finds no sound in it, code \(code)")
            }
        }

        func close() {
            var (context, io) = (context, io)
            avformat_close_input(&context)
            if let buffer = io?.pointee.buffer { av_free(buffer) }
            avio_context_free(&io)
        }
    }
}

/// The file with the read and seek functions that libavformat needs.
private final class FileSource {
    let file: ReadableFile
    /// The system's error, which the library would replace by its own.
    private(set) var error: AudioFileError?
    private var offset = 0

    init(_ file: ReadableFile) { self.file = file }

    static let readCallback: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, CInt) -> CInt = {
        guard let object = $0, let bytes = $1 else { return earshot_av_eof() }
        let source = Unmanaged<FileSource>.fromOpaque(object).takeUnretainedValue()
        return source.read(UnsafeMutableRawBufferPointer(start: bytes, count: Int($2)))
    }

    static let seekCallback: @convention(c) (UnsafeMutableRawPointer?, Int64, CInt) -> Int64 = {
        guard let object = $0 else { return -1 }
        return Unmanaged<FileSource>.fromOpaque(object).takeUnretainedValue().seek($1, $2)
    }

    private func read(_ bytes: UnsafeMutableRawBufferPointer) -> CInt {
        do {
            let got = try file.read(at: offset, into: bytes)
            offset += got
            return got > 0 ? CInt(got) : earshot_av_eof()
        } catch {
            self.error = error
            return earshot_av_refused()
        }
    }

    private func seek(_ to: Int64, _ whence: CInt) -> Int64 {
        if whence & AVSEEK_SIZE != 0 { return Int64(file.byteCount) }
        let base: Int64 =
            switch whence & 0xFFFF {
            case 0: 0
            case 1: Int64(offset)
            case 2: Int64(file.byteCount)
            default: -1
            }
        let (target, overflow) = base.addingReportingOverflow(to)
        guard base >= 0, !overflow, target >= 0 else { return -1 }
        offset = Int(target)
        return target
    }
}
