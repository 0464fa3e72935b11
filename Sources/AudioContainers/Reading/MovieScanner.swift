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

    /// Returns the parameters of an ADTS stream. The stream's packets declare all other parameters.
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
    /// The codecs that are supported in an MP4, M4A or QuickTime file.
    static let codecs = [
        AV_CODEC_ID_AAC, AV_CODEC_ID_ALAC, AV_CODEC_ID_MP3, AV_CODEC_ID_FLAC, AV_CODEC_ID_OPUS, AV_CODEC_ID_AC3,
    ]

    /// Returns true if a file begins as MP4 and has at least 256 bytes.
    private static func isMovie(_ file: ReadableFile) -> Bool {
        let head = file.bytes(at: 0, count: 256)
        return head.count == 256 && head[4..<8].elementsEqual("ftyp".utf8)
    }

    /// - Throws: ``AudioFileError/notAudio(path:reason:)``; ``AudioFileError/damaged(path:reason:)`` if the file's index is
    ///   missing.
    static func scan(_ file: ReadableFile) throws(AudioFileError) -> CodedTrack {
        let boxes = MovieBoxes(file)
        let source = FileSource(file)
        var input: AVInput
        do throws(AudioFileError) { input = try AVInput(source, format: "mov") } catch {
            guard case .notAudio = error, !boxes.hasIndex, isMovie(file) else { throw error }
            throw .damaged(path: file.path, reason: "its index is missing, as in a file that was cut off")
        }
        defer { input.close() }
        guard let context = input.context, let stream = firstSound(context) else {
            throw .notAudio(
                path: file.path, reason: "no sound in it of a known codec (AAC, Apple Lossless, MP3, FLAC, Opus, AC-3)")
        }
        // This reads only the fragments' headers, since every stream discards its packets.
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
}
