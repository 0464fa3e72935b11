// SPDX-License-Identifier: Apache-2.0

import CEarshotLibAV

/// libavcodec's three objects for a codec, created and freed together. All packets use them.
package struct AVCoder {
    package let context: UnsafeMutablePointer<AVCodecContext>
    package let frame: UnsafeMutablePointer<AVFrame>
    package let packet: UnsafeMutablePointer<AVPacket>

    /// Returns the library's encoder of exactly this name, since the library may have other encoders of the same codec.
    package static func encoder(named name: String) -> UnsafePointer<AVCodec>? {
        avcodec_find_encoder_by_name(name).map { UnsafePointer($0) }
    }

    /// Returns the library's decoder of exactly this name.
    package static func decoder(named name: String) -> UnsafePointer<AVCodec>? {
        avcodec_find_decoder_by_name(name).map { UnsafePointer($0) }
    }

    /// - Parameter codec: the codec's name in errors.
    package init(_ library: UnsafePointer<AVCodec>?, codec: String) throws(CodecError) {
        earshot_av_quiet()  // otherwise the library would write to standard error
        guard let library else { throw .codecMissing(codec: codec) }
        guard let context = avcodec_alloc_context3(library), let frame = av_frame_alloc(),
            let packet = av_packet_alloc()
        else { throw .libraryFailure(codec: codec, call: "avcodec_alloc_context3", code: 0) }
        self.context = context
        self.frame = frame
        self.packet = packet
        context.pointee.thread_count = 1
    }

    package func free() {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        avcodec_free_context(&context)
        av_frame_free(&frame)
        av_packet_free(&packet)
    }
}
