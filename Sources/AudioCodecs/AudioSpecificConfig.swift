// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The AAC decoder's configuration, as session descriptions and files carry it (ISO/IEC 14496-3, 1.6.2.1).
public struct AudioSpecificConfig: Hashable, Sendable {
    /// The bytes as received, with any extension after the first two.
    public let bytes: [UInt8]
    /// The sample rate in hertz: in a call one of ``AACEncoder/sampleRates``, in a stream from 8,000 to 96,000.
    public let sampleRate: Double
    /// The number of channels: 1 or 2, in a stream up to 8.
    public let channelCount: Int

    private static let rates = [Double](AACEncoder.allSampleRates.reversed())

    /// Parses a configuration; any bytes are allowed.
    /// - Throws: ``CodecError/badConfiguration(codec:detail:)`` unless it is AAC-LC with 1,024-frame blocks, mono or stereo, at
    ///   32, 44.1 or 48 kHz.
    package init(bytes: [UInt8]) throws(CodecError) {
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

    /// Parses the configuration of a stream or a file; any bytes are allowed.
    /// - Throws: ``CodecError/badConfiguration(codec:detail:)`` unless it is AAC-LC, with or without spectral band replication
    ///   and parametric stereo, at 8 to 96 kHz with 1 to 8 channels.
    package init(streamBytes bytes: [UInt8]) throws(CodecError) {
        func bad(_ detail: String) -> CodecError { .badConfiguration(codec: "AAC", detail: detail) }
        guard bytes.count >= 2, bytes.count <= 64 else { throw bad("\(bytes.count) bytes long") }
        let objectType = bytes[0] >> 3
        guard [2, 5, 29].contains(objectType) else { throw bad("object type \(objectType), not 2, 5 or 29") }
        let rateIndex = Int(bytes[0] & 7) << 1 | Int(bytes[1] >> 7)
        guard rateIndex < Self.rates.count else { throw bad("sampling frequency index \(rateIndex)") }
        let channels = Int(bytes[1] >> 3 & 15)
        guard (1...7).contains(channels) else { throw bad("channel configuration \(channels)") }
        self.bytes = bytes
        sampleRate = Self.rates[rateIndex]
        channelCount = channels == 7 ? 8 : channels
    }

    /// The decoded format, as far as the configuration declares it.
    var format: AudioFormat { AudioFormat(sampleRate: sampleRate, channelCount: channelCount) }
}
