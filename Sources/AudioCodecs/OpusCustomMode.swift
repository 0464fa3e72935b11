// SPDX-License-Identifier: Apache-2.0

import CEarshotOpus

/// The state that an Opus Custom encoder and decoder share: rate and frame length (`opus_custom.h`).
///
/// A coded frame has 64 frames of sound: 64 divides every longer block whose length is a power of two, and the transform's
/// overlap is as short. Other lengths are not supported: in libopus 1.3.1 of Debian 12 the decoder aborts the process for lengths
/// with more than 21 bands, such as 128 and 256 frames (an assertion that later versions fixed), and for lengths with other prime
/// factors than 2, 3 and 5.
final class OpusCustomMode: @unchecked Sendable {  // libopus never writes to a mode once it is made
    let pointer: OpaquePointer

    init(sampleRate: Double, channelCount: Int) throws(CodecError) {
        guard (1...2).contains(channelCount) else { throw .opusCustom("\(channelCount) channels; supported: 1 or 2") }
        guard OpusCustomEncoder.sampleRates.contains(sampleRate) else {
            throw .opusCustom("\(sampleRate) Hz; supported: 44100 or 48000")
        }
        var code: Int32 = 0
        let frames = Int32(OpusCustomEncoder.frameCount)
        guard let pointer = opus_custom_mode_create(Int32(sampleRate), frames, &code) else {
            throw .libraryFailure(codec: "Opus Custom", call: "opus_custom_mode_create", code: Int(code))
        }
        self.pointer = pointer
    }

    deinit { opus_custom_mode_destroy(pointer) }
}

extension CodecError {
    /// Returns the error for an Opus Custom parameter that is out of range.
    static func opusCustom(_ detail: String) -> CodecError {
        .unsupportedFormat(codec: "Opus Custom", detail: detail)
    }
}
