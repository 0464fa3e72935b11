/// What tells a frame of MPEG audio from other bytes, and where its first one keeps LAME's header (ISO/IEC 11172-3, 13818-3).
struct MPEGAudioHeader {
    /// 1 to 3.
    let layer: Int
    /// Where LAME's or Xing's header stands in a frame of layer III that is one.
    let tagOffset: Int

    /// - Parameter bytes: the first four; nil where they are no header, or of free format.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 else { return nil }
        let version = bytes[1] >> 3 & 3  // 0: 2.5, 2: 2, 3: 1
        layer = 4 - Int(bytes[1] >> 1 & 3)
        guard version != 1, layer != 4, bytes[2] >> 2 & 3 != 3, (1...14).contains(bytes[2] >> 4) else { return nil }
        let isMono = bytes[3] >> 6 == 3
        let side = version == 3 ? (isMono ? 17 : 32) : (isMono ? 9 : 17)
        tagOffset = 4 + side + (bytes[1] & 1 == 0 ? 2 : 0)
    }
}
