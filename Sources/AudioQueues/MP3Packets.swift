// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Encodes MP3 frame by frame. A frame may use bits of earlier frames: after a start in the middle of a recording one or two
/// frames are silent.
final class MP3Packets {
    /// The frames that LAME puts before the sound, and the delay of a decoder's filters.
    static let primingFrames = 576 + 529
    private let encoder: MP3Encoder
    private var frames = MP3Frames()

    init(sampleRate: Double, channelCount: Int, bitRate: MP3Encoder.BitRate) throws(CodecError) {
        do throws(MP3Error) {
            encoder = try MP3Encoder(
                sampleRate: sampleRate, channelCount: channelCount, bitRate: bitRate, hasHeader: false)
        } catch {
            throw CodecError(error)
        }
    }

    /// Returns at most one packet, so that the frames of a buffer fit into it.
    func encode(
        _ samples: Channels, frameCount: Int, _ give: (UnsafeRawBufferPointer) -> Void
    ) throws(CodecError) {
        do throws(MP3Error) {
            frames.append(try encoder.encode(samples, frameCount: frameCount))
        } catch {
            throw CodecError(error)
        }
        frames.next()?.withUnsafeBytes(give)
    }

    /// Passes on the remaining packets.
    func finish(_ give: (UnsafeRawBufferPointer) -> Void) throws(CodecError) {
        do throws(MP3Error) { frames.append(try encoder.flush()) } catch { throw CodecError(error) }
        while let frame = frames.next() { frame.withUnsafeBytes(give) }
    }
}

extension CodecError {
    fileprivate init(_ error: MP3Error) {
        switch error {
        case .unsupportedFormat(let detail): self = .unsupportedFormat(codec: "MP3", detail: detail)
        case .finished: self = .encoderFinished(codec: "MP3")
        case .libraryFailure(let call, let code): self = .libraryFailure(codec: "MP3", call: call, code: code)
        }
    }
}
