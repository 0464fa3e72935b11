// SPDX-License-Identifier: Apache-2.0

import CEarshotVorbis
import EarshotAudioBase

/// Writes an Ogg Vorbis file by libvorbis, with at least four pages a second, so that a killed process loses little sound.
/// libsndfile would wait until a page is full, which near silence takes seconds.
///
/// For one thread at a time; writes block on the disk.
final class VorbisFile {
    /// False after an error or after closing.
    private(set) var isOpen = true
    private let path: String
    private let channelCount: Int
    private let maximumPageFrames: Int64  // a page ends after this number, even if it is not full
    private let library: Library
    private let file: AppendingFile
    private var pageEnd: Int64 = 0  // frames in the pages that were written

    /// libvorbis's structures, which point to each other.
    private struct Library {
        let info = UnsafeMutablePointer<vorbis_info>.allocate(capacity: 1)
        let state = UnsafeMutablePointer<vorbis_dsp_state>.allocate(capacity: 1)
        let block = UnsafeMutablePointer<vorbis_block>.allocate(capacity: 1)
        let stream = UnsafeMutablePointer<ogg_stream_state>.allocate(capacity: 1)

        /// Creates the encoder; nil if it refuses the format.
        init?(_ plan: SndfilePlan) {
            vorbis_info_init(info)
            let (rate, channels) = (Int(plan.sampleRate.rounded()), plan.channelCount)
            guard vorbis_encode_init_vbr(info, channels, rate, plan.vorbisQuality) == 0 else {
                vorbis_info_clear(info)
                deallocate()
                return nil
            }
            vorbis_analysis_init(state, info)
            vorbis_block_init(state, block)
            ogg_stream_init(stream, CInt.random(in: 0...CInt.max))
        }

        func free() {
            ogg_stream_clear(stream)
            vorbis_block_clear(block)
            vorbis_dsp_clear(state)
            vorbis_info_clear(info)
            deallocate()
        }

        private func deallocate() {
            stream.deallocate()
            block.deallocate()
            state.deallocate()
            info.deallocate()
        }
    }

    /// Creates or truncates the file, or starts the stream, and writes the headers.
    init(_ plan: SndfilePlan, _ stream: NonSeekableOutput? = nil) throws(AudioFileError) {
        guard let library = Library(plan) else {
            throw .unsupportedFormat(
                path: plan.path,
                detail: "\(plan.channelCount) channels at \(plan.sampleRate) Hz are too much for Vorbis")
        }
        do {
            file = if let stream { AppendingFile(stream) } else { try AppendingFile(path: plan.path) }
        } catch {
            library.free()
            throw error
        }
        self.library = library
        path = plan.path
        channelCount = plan.channelCount
        maximumPageFrames = Int64(plan.sampleRate / 4)
        var comment = vorbis_comment()
        vorbis_comment_init(&comment)
        defer { vorbis_comment_clear(&comment) }
        var headers = (ogg_packet(), ogg_packet(), ogg_packet())
        vorbis_analysis_headerout(library.state, &comment, &headers.0, &headers.1, &headers.2)
        ogg_stream_packetin(library.stream, &headers.0)
        ogg_stream_packetin(library.stream, &headers.1)
        ogg_stream_packetin(library.stream, &headers.2)
        try putPages(ogg_stream_flush)  // the sound begins on a page of its own
    }

    deinit { library.free() }

    /// Appends frames: all, or after an error those in complete pages.
    func write(_ channels: Channels, _ frames: Int, _ offset: Int) throws(AudioFileError) {
        guard isOpen else { throw .closed(path: path) }
        var done = 0
        while done < frames {
            let count = min(frames - done, 2_048)
            guard let room = vorbis_analysis_buffer(library.state, CInt(count)) else { break }
            for c in 0..<channelCount {
                guard let to = room[c] else { continue }
                let from = channels[c] + offset + done
                for i in 0..<count {  // far beyond full scale the encoder overflows
                    let x = from[i]
                    to[i] = x == x ? max(-8, min(8, x)) : 0
                }
            }
            vorbis_analysis_wrote(library.state, CInt(count))
            try encode()
            done += count
        }
    }

    /// Writes the remaining frames and closes the file. A second call does nothing.
    func close() throws(AudioFileError) {
        guard isOpen else { return }
        vorbis_analysis_wrote(library.state, 0)
        try encode()
        try putPages(ogg_stream_flush)
        isOpen = false
        try file.close()
    }

    private func encode() throws(AudioFileError) {
        while vorbis_analysis_blockout(library.state, library.block) == 1 {
            vorbis_analysis(library.block, nil)
            vorbis_bitrate_addblock(library.block)
            var packet = ogg_packet()
            while vorbis_bitrate_flushpacket(library.state, &packet) != 0 {
                ogg_stream_packetin(library.stream, &packet)
                try putPages(packet.granulepos - pageEnd >= maximumPageFrames ? ogg_stream_flush : ogg_stream_pageout)
            }
        }
    }

    private func putPages(
        _ next: (UnsafeMutablePointer<ogg_stream_state>?, UnsafeMutablePointer<ogg_page>?) -> CInt
    ) throws(AudioFileError) {
        var page = ogg_page()
        while next(library.stream, &page) != 0 {
            let bytes =
                [UInt8](UnsafeBufferPointer(start: page.header, count: page.header_len))
                + UnsafeBufferPointer(start: page.body, count: page.body_len)
            do {
                try file.append(bytes)
            } catch {
                isOpen = false
                try? file.close()
                throw error
            }
            pageEnd = max(pageEnd, ogg_page_granulepos(&page))
        }
    }
}
