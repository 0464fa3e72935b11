// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The header that each frame of MPEG audio (ISO/IEC 11172-3, 13818-3, and the quarter rates known as 2.5) or of AAC in ADTS
/// (ISO/IEC 13818-7, 6.2) begins with.
package struct FrameHeader: Hashable {
    /// Bytes that are needed to read one.
    package static let byteCount = 7

    package let codec: PacketFormat.Codec
    let sampleRate: Int
    let channelCount: Int
    /// In bits a second; 0 in AAC, which has none of its own.
    let bitRate: Int
    /// Bytes of the frame, header and all.
    package let length: Int
    /// Bytes before what a decoder is given.
    let prefixLength: Int
    /// Frames of sound.
    let frameCount: Int
    /// The configuration of an AAC decoder: object type, rate and channels.
    package let configuration: [UInt8]
    /// True if this configuration is enough for it: low complexity, channels that the header tells, one block a frame.
    let isPlain: Bool
    /// Bytes of side information behind the header, of layer III.
    let sideLength: Int

    /// Returns true if one stream can have both, but for the number of channels.
    func continues(_ other: FrameHeader) -> Bool {
        codec == other.codec && sampleRate == other.sampleRate && frameCount == other.frameCount
    }

    /// Bytes that frames of this bit rate have on average; nil if the header does not say.
    var averageLength: Double? {
        bitRate > 0 ? Double(frameCount) * Double(bitRate) / 8 / Double(sampleRate) : nil
    }

    var packetFormat: PacketFormat {
        PacketFormat(
            codec: codec, format: AudioFormat(sampleRate: Double(sampleRate), channelCount: channelCount),
            framesPerPacket: frameCount, configuration: configuration)
    }

    /// Returns true if the frame is the last of the bytes, or another of its kind or a tag stands behind it.
    func isFollowed(in bytes: StreamBuffer) -> Bool {
        if bytes.count == length { return true }
        if let next = FrameHeader(bytes, at: length), next.continues(self) { return true }
        return ["TAG", "ID3", "APETAGEX"].contains { bytes.begins(with: $0, at: length) }
    }

    /// Reads the header at an index; nil if there is none, or not all of it.
    package init?(_ bytes: StreamBuffer, at index: Int) {
        guard bytes.count >= index + 4, bytes[index] == 0xFF, bytes[index + 1] >= 0xE0 else { return nil }
        let (b1, b2, b3) = (Int(bytes[index + 1]), Int(bytes[index + 2]), Int(bytes[index + 3]))
        if b1 & 0xF6 == 0xF0 {
            guard bytes.count >= index + Self.byteCount else { return nil }
            self.init(adts: b1, b2, b3, bytes.bigEndian(index + 4, 3))
        } else {
            self.init(mpeg: b1, b2, b3)
        }
    }

    private init?(mpeg b1: Int, _ b2: Int, _ b3: Int) {
        let (version, layer) = (b1 >> 3 & 3, 4 - (b1 >> 1 & 3))
        let (rateIndex, bitIndex, padding) = (b2 >> 2 & 3, b2 >> 4, b2 >> 1 & 1)
        guard version != 1, layer != 4, rateIndex != 3, (1...14).contains(bitIndex), b3 & 3 != 2 else { return nil }
        let isFirst = version == 3
        sampleRate = [44_100, 48_000, 32_000][rateIndex] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        bitRate = 1_000 * Self.bitRate(isFirst, layer, bitIndex)
        switch layer {
        case 1:
            codec = .mp1
            frameCount = 384
            length = (12 * bitRate / sampleRate + padding) * 4
        case 2:
            codec = .mp2
            frameCount = 1_152
            length = 144 * bitRate / sampleRate + padding
        default:
            codec = .mp3
            frameCount = isFirst ? 1_152 : 576
            length = (isFirst ? 144 : 72) * bitRate / sampleRate + padding
        }
        channelCount = b3 >> 6 == 3 ? 1 : 2
        sideLength = isFirst ? (channelCount == 1 ? 17 : 32) : channelCount == 1 ? 9 : 17
        prefixLength = 0
        configuration = []
        isPlain = true
    }

    /// In kb/s.
    private static func bitRate(_ isFirst: Bool, _ layer: Int, _ index: Int) -> Int {
        switch (isFirst, layer) {
        case (true, 1): 32 * index
        case (true, 2): [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384][index - 1]
        case (true, _): [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][index - 1]
        case (false, 1): [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256][index - 1]
        case (false, _): [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160][index - 1]
        }
    }

    private init?(adts b1: Int, _ b2: Int, _ b3: Int, _ rest: Int) {
        let rates = [
            96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
        ]
        let rateIndex = b2 >> 2 & 15
        let channels = (b2 & 1) << 2 | b3 >> 6
        guard rateIndex < rates.count else { return nil }
        length = (b3 & 3) << 11 | rest >> 13
        prefixLength = b1 & 1 == 1 ? 7 : 9
        guard length > prefixLength else { return nil }
        codec = .aac
        bitRate = 0
        sampleRate = rates[rateIndex]
        channelCount = channels == 7 ? 8 : channels
        let (type, blocks) = ((b2 >> 6) + 1, (rest & 3) + 1)
        frameCount = blocks * 1_024
        isPlain = type == 2 && channels > 0 && blocks == 1
        configuration = [UInt8(type << 3 | rateIndex >> 1), UInt8((rateIndex & 1) << 7 | channels << 3)]
        sideLength = 0
    }
}
