// SPDX-License-Identifier: Apache-2.0

@testable import EarshotAudioBase
@testable import EarshotAudioCodecs
@testable import EarshotMediaTransport

/// Decodes packets, each after two bytes of length, with one decoder. The first byte of the input gives the sample rate and the
/// channels. An invalid packet is a loss. All output must be finite.
func fuzzOpusCustom(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let first = input.first else { return 0 }
    let channels = first & 1 == 0 ? 1 : 2
    guard let decoder = try? OpusCustomDecoder(sampleRate: first & 2 == 0 ? 48_000 : 44_100, channelCount: channels)
    else { preconditionFailure("no decoder") }
    let block = AudioBuffer(channelCount: channels, frameCapacity: OpusCustomEncoder.frameCount)
    func check(_ frames: Int) {
        precondition(frames == OpusCustomEncoder.frameCount)
        for c in 0..<channels { for i in 0..<frames { precondition(block.channels[c][i].isFinite) } }
    }
    var rest = input.dropFirst()
    while rest.count >= 2 {
        let size = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
        let bytes = UnsafeRawBufferPointer(rebasing: rest.dropFirst(2).prefix(size))
        rest = rest.dropFirst(2 + size)
        guard let payload = try? OpusCustomPayload(parsing: bytes.bytes), let start = bytes.baseAddress else {
            check(decoder.renderer.conceal(into: block.channels, offset: 0))
            continue
        }
        precondition(payload.frameCount * payload.frameSize + OpusCustomPayload.headerSize == bytes.count)
        let frames = (start + OpusCustomPayload.headerSize).assumingMemoryBound(to: UInt8.self)
        for n in 0..<payload.frameCount {
            check(
                decoder.renderer.decode(
                    frames + n * payload.frameSize, byteCount: payload.frameSize, into: block.channels, offset: 0))
        }
    }
    return 0
}

/// Returns a sine and silence for each sample rate and number of channels, with a loss in between.
func opusCustomSeeds() -> [[UInt8]] {
    (0..<4).map { form -> [UInt8] in
        let channels = form & 1 == 0 ? 1 : 2
        guard
            let encoder = try? OpusCustomEncoder(
                sampleRate: form & 2 == 0 ? 48_000 : 44_100, channelCount: channels, bitRate: 96_000 * channels)
        else { preconditionFailure("no encoder") }
        let block = AudioBuffer(channelCount: channels, frameCapacity: OpusCustomEncoder.frameCount)
        var bytes = [UInt8(form)]
        for n in 0..<6 {
            for c in 0..<channels {
                for i in 0..<OpusCustomEncoder.frameCount {
                    block.channels[c][i] = n > 3 ? 0 : Float((n * 64 + i) % 50 * (c + 1) % 50) / 50 - 0.5
                }
            }
            var frame = [UInt8](repeating: 0, count: encoder.frameByteCount)
            let count = frame.withUnsafeMutableBytes { try? encoder.encode(block.channels, into: $0) }
            precondition(count == frame.count)
            bytes += n == 2 ? [0, 0] : [0, UInt8(frame.count + 1), 1] + frame
        }
        return bytes
    }
}
