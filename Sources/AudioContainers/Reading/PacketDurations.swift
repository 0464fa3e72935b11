// SPDX-License-Identifier: Apache-2.0

import CEarshotLibAVFormat

/// Finds how many frames a packet decodes to, from its header. For one thread at a time.
final class PacketDurations {
    private let parameters: CodecParameters
    private let parser: UnsafeMutablePointer<AVCodecParserContext>?
    private var context: UnsafeMutablePointer<AVCodecContext>?

    init(_ parameters: CodecParameters) {
        self.parameters = parameters
        parser = av_parser_init(CInt(bitPattern: parameters.pointer.pointee.codec_id.rawValue))
        parser?.pointee.flags |= CInt(PARSER_FLAG_COMPLETE_FRAMES)
        context = avcodec_alloc_context3(nil)
        if let context { avcodec_parameters_to_context(context, parameters.pointer) }
    }

    deinit {
        av_parser_close(parser)
        avcodec_free_context(&context)
    }

    /// Returns the number of frames of a packet; nil if its header does not tell.
    func frameCount(_ packet: UnsafeRawBufferPointer) -> Int? {
        if let parser, let context {
            var output: UnsafeMutablePointer<UInt8>?
            var outputByteCount: CInt = 0
            parser.pointee.duration = 0
            av_parser_parse2(
                parser, context, &output, &outputByteCount, packet.baseAddress?.assumingMemoryBound(to: UInt8.self),
                CInt(packet.count), earshot_av_no_time(), earshot_av_no_time(), -1)
            if parser.pointee.duration > 0 { return Int(parser.pointee.duration) }
        }
        let frames = av_get_audio_frame_duration2(parameters.pointer, CInt(packet.count))
        return frames > 0 ? Int(frames) : nil
    }
}
