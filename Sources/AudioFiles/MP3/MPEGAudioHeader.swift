/// The four bytes before a frame of MPEG audio (ISO/IEC 11172-3 and 13818-3).
struct MPEGAudioHeader {
    /// 1 to 3.
    let layer: Int
    /// Hertz.
    let sampleRate: Int
    /// kb/s.
    let bitRate: Int
    /// 1 or 2.
    let channelCount: Int
    /// Whether it is MPEG-1, whose side information is longer.
    let isVersion1: Bool
    /// Whether a checksum of two bytes follows.
    let hasChecksum: Bool

    /// Nil where the bytes are no header, or of free format.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 else { return nil }
        let version = Int(bytes[1] >> 3 & 3)  // 0: 2.5, 2: 2, 3: 1
        let layerBits = Int(bytes[1] >> 1 & 3)
        let rateIndex = Int(bytes[2] >> 2 & 3)
        let bitRateIndex = Int(bytes[2] >> 4)
        guard version != 1, layerBits != 0, rateIndex != 3, (1...14).contains(bitRateIndex) else { return nil }
        layer = 4 - layerBits
        isVersion1 = version == 3
        sampleRate = [44_100, 48_000, 32_000][rateIndex] >> (version == 3 ? 0 : version == 2 ? 1 : 2)
        let table =
            switch (isVersion1, layer) {
            case (true, 1): [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448]
            case (true, 2): [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
            case (true, _): [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
            case (false, 1): [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256]
            case (false, _): [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
            }
        bitRate = table[bitRateIndex - 1]
        channelCount = bytes[3] >> 6 == 3 ? 1 : 2
        hasChecksum = bytes[1] & 1 == 0
    }

    /// Where LAME's or Xing's header stands in a frame that is one.
    var headerOffset: Int { 4 + (isVersion1 ? (channelCount == 1 ? 17 : 32) : (channelCount == 1 ? 9 : 17)) }
}
