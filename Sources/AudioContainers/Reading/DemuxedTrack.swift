// SPDX-License-Identifier: Apache-2.0

import CEarshotLibAVFormat
import EarshotAudioFiles

/// The packets of a file's first sound track that can be decoded, one after another, with libavformat.
///
/// libavformat may read only this file. For one thread at a time.
final class DemuxedTrack {
    /// The codecs that are supported.
    private static let codecs = [
        AV_CODEC_ID_AAC, AV_CODEC_ID_ALAC, AV_CODEC_ID_MP2, AV_CODEC_ID_MP3, AV_CODEC_ID_FLAC, AV_CODEC_ID_OPUS,
        AV_CODEC_ID_VORBIS, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3, AV_CODEC_ID_WMAV1, AV_CODEC_ID_WMAV2, AV_CODEC_ID_WMAPRO,
        AV_CODEC_ID_WMALOSSLESS, AV_CODEC_ID_PCM_S16LE, AV_CODEC_ID_PCM_S24LE, AV_CODEC_ID_PCM_F32LE,
    ]

    /// The decoder's parameters.
    let parameters: CodecParameters
    /// The text fields of the file and the track by their names in capitals; the track's come first.
    let texts: [String: [String]]
    let hasChapters: Bool
    /// The number of packets that were read: the index of the next one.
    private(set) var nextPacket = 0
    /// The last packet's time in seconds; nil if the container does not tell it.
    private(set) var time: Double?
    /// True if the last packet is marked as damaged, or reading ended with an error.
    private(set) var isDamaged = false
    /// The frames to remove from the beginning of the last packet's sound, and from its end.
    private(set) var trim = (start: 0, end: 0)

    private let source: FileSource
    private let format: DemuxedFormat
    private var input: AVInput
    private var stream: CInt
    private let tickSeconds: Double
    private let packet: UnsafeMutablePointer<AVPacket>

    /// - Throws: ``AudioFileError/notAudio(path:reason:)``.
    init(_ file: ReadableFile, _ format: DemuxedFormat) throws(AudioFileError) {
        self.format = format
        source = FileSource(file)
        input = try AVInput(source, format: format.demultiplexer)
        guard let stream = Self.firstSound(input) else {
            input.close()
            throw .notAudio(path: file.path, reason: "the \(format.name) file has no sound of a supported codec")
        }
        self.stream = stream.pointee.index
        tickSeconds = av_q2d(stream.pointee.time_base)
        guard let packet = av_packet_alloc() else { fatalError("out of memory") }
        self.packet = packet
        parameters = CodecParameters(copying: stream.pointee.codecpar)
        hasChapters = (input.context?.pointee.nb_chapters ?? 0) > 0
        texts = Self.texts(stream.pointee.metadata)
            .merging(Self.texts(input.context?.pointee.metadata)) { track, _ in track }
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        input.close()
    }

    /// Reads the next packet.
    /// - Returns: the packet's bytes, valid until the next call; nil at the end of the file.
    func next() throws(AudioFileError) -> UnsafeRawBufferPointer? {
        av_packet_unref(packet)
        guard let context = input.context else {
            throw .damaged(path: source.file.path, reason: "it could not be opened again")
        }
        var code = av_read_frame(context, packet)
        while code >= 0 {
            if packet.pointee.stream_index == stream, packet.pointee.size > 0 {
                nextPacket += 1
                var (start, end): (UInt32, UInt32) = (0, 0)
                earshot_av_trim(packet, &start, &end)
                trim = (Int(start), Int(end))
                isDamaged = packet.pointee.flags & CInt(AV_PKT_FLAG_CORRUPT) != 0
                time = packet.pointee.pts == earshot_av_no_time() ? nil : Double(packet.pointee.pts) * tickSeconds
                return UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
            }
            av_packet_unref(packet)
            code = av_read_frame(context, packet)
        }
        if let error = source.error { throw error }
        isDamaged = code != earshot_av_eof()
        return nil
    }

    /// Returns to the first packet.
    func rewind() throws(AudioFileError) {
        av_packet_unref(packet)
        input.close()
        nextPacket = .max  // a failure leaves no packet to continue with
        source.rewind()
        input = try AVInput(source, format: format.demultiplexer)
        guard let stream = Self.firstSound(input) else {
            input.close()
            throw .damaged(path: source.file.path, reason: "its sound track cannot be found again")
        }
        self.stream = stream.pointee.index
        nextPacket = 0
    }

    /// Finds the track, and excludes the others from reading.
    private static func firstSound(_ input: AVInput) -> UnsafeMutablePointer<AVStream>? {
        guard let context = input.context else { return nil }
        var found: UnsafeMutablePointer<AVStream>?
        for i in 0..<Int(context.pointee.nb_streams) {
            guard let stream = context.pointee.streams[i] else { continue }
            if found == nil, let parameters = stream.pointee.codecpar,
                parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO, codecs.contains(parameters.pointee.codec_id)
            {
                found = stream
            } else {
                stream.pointee.discard = AVDISCARD_ALL
            }
        }
        return found
    }

    private static func texts(_ metadata: OpaquePointer?) -> [String: [String]] {
        // The names that other kinds of files have for the same fields; nil for what describes the file and not the music.
        let names: [String: String?] = [
            "TRACK": "TRACKNUMBER", "DISC": "DISCNUMBER", "ALBUM_ARTIST": "ALBUMARTIST", "DATE_RELEASED": "DATE",
            "ENCODER": nil, "DURATION": nil, "CREATION_TIME": nil, "LANGUAGE": nil, "MAJOR_BRAND": nil,
        ]
        var texts: [String: [String]] = [:]
        var entry: UnsafeMutablePointer<AVDictionaryEntry>?
        while let next = av_dict_get(metadata, "", entry, AV_DICT_IGNORE_SUFFIX) {
            entry = next
            guard let key = next.pointee.key, let value = next.pointee.value else { continue }
            let name = String(cString: key).uppercased()
            guard let name = names[name, default: name], !name.hasPrefix("_STATISTICS"), !name.contains("/") else {
                continue
            }
            texts[name, default: []].append(String(cString: value))
        }
        return texts
    }
}
