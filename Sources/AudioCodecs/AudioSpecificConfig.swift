/// The AAC decoder's configuration as it stands in a session description (ISO/IEC 14496-3, 1.6.2.1), for AAC-LC.
public struct AudioSpecificConfig: Hashable, Sendable {
    /// The bytes as they came, any extension behind the first two included.
    public let bytes: [UInt8]
    /// Hertz: one of ``AACEncoder/sampleRates``.
    public let sampleRate: Double
    /// 1 or 2.
    public let channelCount: Int

    private static let rates = [
        96_000.0, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025,
    ]

    /// Reads a configuration, any bytes at all.
    /// - Throws: ``CodecError/badConfiguration(codec:detail:)`` where it is not AAC-LC with 1,024-frame blocks, mono or
    ///   stereo, at 32, 44.1 or 48 kHz.
    public init(bytes: [UInt8]) throws(CodecError) {
        func bad(_ detail: String) -> CodecError { .badConfiguration(codec: "AAC", detail: detail) }
        guard bytes.count >= 2, bytes.count <= 64 else { throw bad("\(bytes.count) bytes long") }
        let objectType = bytes[0] >> 3
        guard objectType == 2 else { throw bad("object type \(objectType), not 2") }
        let rateIndex = Int(bytes[0] & 7) << 1 | Int(bytes[1] >> 7)
        guard rateIndex < Self.rates.count, AACEncoder.sampleRates.contains(Self.rates[rateIndex]) else {
            throw bad("sampling frequency index \(rateIndex)")
        }
        let channels = Int(bytes[1] >> 3 & 15)
        guard (1...2).contains(channels) else { throw bad("channel configuration \(channels)") }
        guard bytes[1] & 7 == 0 else { throw bad("frame length, core coder or extension flag set") }
        self.bytes = bytes
        sampleRate = Self.rates[rateIndex]
        channelCount = channels
    }
}
