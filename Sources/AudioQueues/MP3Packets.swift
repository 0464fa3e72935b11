// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Encodes MP3 frame by frame. A frame may use bits of earlier frames: a decoder that starts in the middle of a recording outputs
/// one or two silent frames.
final class MP3Packets {
    /// The frames before the first recorded one: the delays of LAME's encoder (576) and of a decoder's filters (529).
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

    /// Passes on at most one packet, so that the packets of a buffer's frames fit into the buffer.
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
