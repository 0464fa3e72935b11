// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The header of a frame of MPEG audio (ISO/IEC 11172-3, 13818-3, and the quarter rates known as 2.5) or of AAC in ADTS (ISO/IEC
/// 13818-7, 6.2).
package struct FrameHeader: Hashable {
    /// The number of bytes needed to read any header.
    package static let byteCount = 7

    package let codec: PacketFormat.Codec
    let sampleRate: Int
    let channelCount: Int
    /// The bits a second; 0 in AAC, whose header has none.
    let bitRate: Int
    /// The bytes of the frame, with its header.
    package let length: Int
    /// The number of bytes before the decoder's input: the header of ADTS; 0 in MPEG audio.
    let prefixLength: Int
    /// The number of sample frames to which the frame decodes.
    let frameCount: Int
    /// The AudioSpecificConfig for an AAC decoder: object type, rate and channels. Empty in MPEG audio.
    package let configuration: [UInt8]
    /// True if the decoder needs no more than this configuration: low complexity, channels in the header, one block in a frame.
    let isPlain: Bool
    /// The bytes of side information after a layer III header.
    let sideLength: Int

    /// Returns true if both frames can belong to one stream, apart from the number of channels.
    func continues(_ other: FrameHeader) -> Bool {
        codec == other.codec && sampleRate == other.sampleRate && frameCount == other.frameCount
    }

    /// The average number of bytes of frames with this bit rate; nil if the header has no bit rate.
    var averageLength: Double? {
        bitRate > 0 ? Double(frameCount) * Double(bitRate) / 8 / Double(sampleRate) : nil
    }

    var packetFormat: PacketFormat {
        PacketFormat(
            codec: codec, format: AudioFormat(sampleRate: Double(sampleRate), channelCount: channelCount),
            framesPerPacket: frameCount, configuration: configuration)
    }

    /// Returns true if the frame ends the bytes, or another frame of its kind or a tag follows it.
    func isFollowed(in bytes: StreamBuffer) -> Bool {
        if bytes.count == length { return true }
        if let next = FrameHeader(bytes, at: length), next.continues(self) { return true }
        return ["TAG", "ID3", "APETAGEX"].contains { bytes.begins(with: $0, at: length) }
    }

    /// Reads the header at an index; nil if there is no complete header.
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

    /// Returns the bit rate in kb/s.
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
