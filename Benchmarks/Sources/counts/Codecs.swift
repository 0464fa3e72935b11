// SPDX-License-Identifier: Apache-2.0

import BenchScenes

@testable import EarshotAudioBase
@testable import EarshotAudioCodecs

/// Our side of the codecs. The work inside libopus and libavcodec is not counted.
enum Codecs {
    static func count() throws {
        try pcm()
        let voice = Sounds.voice(sampleRate: 48_000, seconds: 1)
        for duration in [OpusFrameDuration.microseconds2500, .milliseconds10] { try opus(duration, voice) }
        try aac(voice)
    }

    private static func pcm() throws {
        let frames = opaque(128)
        let from = Kernels.noise(channels: 1, frames: frames)
        let to = AudioBuffer(channelCount: 1, frameCapacity: frames)
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 1_024)
        defer { bytes.deallocate() }
        var size = 0
        counted("PCM, 128 frames, encoded") {
            size = PCMCodec.encode(from.channels, offset: 0, frameCount: frames, into: bytes)
        }
        counted("PCM, 128 frames, decoded") {
            let count = PCMCodec.decode(bytes, byteCount: size, channelCount: 1, into: to.channels, offset: 0)
            require(count == frames, "PCM does not decode")
        }
    }

    private static func opus(_ duration: OpusFrameDuration, _ sound: AudioBuffer) throws {
        let frames = duration.frameCount
        let to = AudioBuffer(channelCount: 1, frameCapacity: frames)
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: duration, bitRate: 64_000)
        let decoder = try OpusDecoder(channelCount: 1)
        let packet = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_500, alignment: 16)
        defer { packet.deallocate() }
        var at = 0
        var size = 0
        let name = "Opus, \(duration.milliseconds) ms"
        try counted("\(name), encoded") {
            size = try encoder.encode(sound.channels, offset: at, into: packet)
            at = (at + frames) % (sound.frameCapacity - frames)
        }
        let bytes = packet.baseAddress?.assumingMemoryBound(to: UInt8.self)
        counted("\(name), decoded") {
            let count = decoder.renderer.decode(
                bytes, byteCount: size, into: to.channels, offset: 0, frameCount: frames)
            require(count == frames, "Opus does not decode")
        }
    }

    private static func aac(_ sound: AudioBuffer) throws {
        let frames = AACEncoder.blockFrameCount
        let to = AudioBuffer(channelCount: 1, frameCapacity: 2 * frames)
        let encoder = try AACEncoder(sampleRate: 48_000, channelCount: 1, bitRate: 64_000)
        let decoder = try AACDecoder(audioSpecificConfig: encoder.audioSpecificConfig)
        var at = 0
        var packet: [UInt8] = []
        try counted("AAC, 1024 frames, encoded") {
            let bytes = try encoder.encode(sound.channels, offset: at)
            if packet.isEmpty, let bytes { packet = Array(bytes) }
            at = (at + frames) % (sound.frameCapacity - frames)
        }
        try packet.withUnsafeBytes { bytes in
            try counted("AAC, 1024 frames, decoded") {
                require(try decoder.decode(bytes, into: to.channels) == frames, "AAC does not decode")
            }
        }
    }
}
