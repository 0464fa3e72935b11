/// One format of a media description: an rtpmap line and its fmtp line (RFC 8866 §6.6, §6.15).
public struct MediaFormat: Hashable, Sendable, CustomStringConvertible {
    /// A format parameter; `value` is empty where there is only a word.
    public struct Parameter: Hashable, Sendable {
        /// Compared without regard to case.
        public var name: String
        /// May be empty.
        public var value: String

        /// A parameter.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// 0 to 127.
    public var payloadType: UInt8
    /// As registered, compared without regard to case: `MPEG4-GENERIC`, `opus`, `L16`. `opus-custom` is Earshot's own.
    public var encodingName: String
    /// RTP ticks a second.
    public var clockRate: Int
    /// 1 to 255.
    public var channelCount: Int
    /// In the order written.
    public var parameters: [Parameter]
    /// Whether the describing side takes generic NACKs for it: `a=rtcp-fb` (RFC 4585 §4.2).
    public var takesNACK = false
    /// Whether the describing side takes requests for a lower bit rate for it: `a=rtcp-fb` with `ccm tmmbr` (RFC 5104 §7.1).
    public var takesRateRequests = false

    /// A format. - Precondition: `payloadType` is at most 127.
    public init(
        payloadType: UInt8, encodingName: String, clockRate: Int, channelCount: Int, parameters: [Parameter] = []
    ) {
        precondition(payloadType < 128)
        self.payloadType = payloadType
        self.encodingName = encodingName
        self.clockRate = clockRate
        self.channelCount = channelCount
        self.parameters = parameters
    }

    /// AAC-LC, one unit a packet.
    /// - Parameter configuration: the encoder's AudioSpecificConfig.
    public static func aac(
        payloadType: UInt8 = 96, sampleRate: Int = 44_100, channelCount: Int = 1, configuration: [UInt8]
    ) -> MediaFormat {
        MediaFormat(
            payloadType: payloadType, encodingName: "MPEG4-GENERIC", clockRate: sampleRate, channelCount: channelCount,
            parameters: [
                Parameter("streamtype", "5"), Parameter("profile-level-id", "41"), Parameter("mode", "AAC-hbr"),
                Parameter("sizelength", "13"), Parameter("indexlength", "3"), Parameter("indexdeltalength", "3"),
                Parameter("config", configuration.map(hexadecimal).joined()),
            ])
    }

    /// Opus; SDP always says 48 kHz and two channels (RFC 7587 §7).
    /// - Parameters:
    ///   - channelCount: what we send and like to get: 1 or 2.
    ///   - bitRate: bits a second that the peer should not exceed on average; 6,000 to 510,000.
    public static func opus(payloadType: UInt8 = 97, channelCount: Int = 1, bitRate: Int? = nil) -> MediaFormat {
        let stereo = channelCount == 2 ? "1" : "0"
        return MediaFormat(
            payloadType: payloadType, encodingName: "opus", clockRate: OpusPayload.clockRate, channelCount: 2,
            parameters: [Parameter("sprop-stereo", stereo), Parameter("stereo", stereo)]
                + (bitRate.map { [Parameter("maxaveragebitrate", String($0))] } ?? []))
    }

    /// Opus Custom in frames of 64; see ``OpusCustomPayload``.
    /// - Parameters:
    ///   - sampleRate: 44,100 or 48,000 hertz.
    ///   - bitRate: bits a second that the peer should not exceed.
    public static func opusCustom(
        payloadType: UInt8 = 99, sampleRate: Int, channelCount: Int = 1, bitRate: Int? = nil
    ) -> MediaFormat {
        MediaFormat(
            payloadType: payloadType, encodingName: "opus-custom", clockRate: sampleRate, channelCount: channelCount,
            parameters: [Parameter("frame", String(OpusCustomPayload.ticksPerFrame))]
                + (bitRate.map { [Parameter("maxaveragebitrate", String($0))] } ?? []))
    }

    /// 16-bit PCM.
    public static func pcm(payloadType: UInt8 = 98, sampleRate: Int, channelCount: Int = 1) -> MediaFormat {
        MediaFormat(payloadType: payloadType, encodingName: "L16", clockRate: sampleRate, channelCount: channelCount)
    }

    /// The value of a parameter; nil when it is not there.
    public func parameter(_ name: String) -> String? {
        parameters.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Which codec this is; nil for one that Earshot has not, or not with these parameters.
    public var codec: Codec? {
        switch encodingName.lowercased() {
        case "opus" where clockRate == OpusPayload.clockRate && channelCount == 2 && !isReserve: .opus
        case "opus-custom"
        where [44_100, 48_000].contains(clockRate) && (1...2).contains(channelCount)
            && parameter("frame") == String(OpusCustomPayload.ticksPerFrame):
            .opusCustom
        case "l16" where (1...32).contains(channelCount): .pcm
        case "mpeg4-generic"
        where parameter("mode")?.lowercased() == "aac-hbr" && parameter("sizelength") == "13"
            && parameter("indexlength") == "3" && parameter("indexdeltalength") == "3" && configuration != nil:
            .aac
        default: nil
        }
    }

    /// The AudioSpecificConfig of an AAC format; nil when there is none or it is not hexadecimal.
    public var configuration: [UInt8]? {
        guard let text = parameter("config"), !text.isEmpty, text.utf8.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        var high: Int?
        for character in text {
            guard character.isASCII, let digit = character.hexDigitValue else { return nil }
            if let first = high {
                bytes.append(UInt8(first * 16 + digit))
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }

    /// Whether both formats name the same encoding, rate and channels.
    public func matches(_ other: MediaFormat) -> Bool {
        encodingName.lowercased() == other.encodingName.lowercased() && clockRate == other.clockRate
            && channelCount == other.channelCount && codec == other.codec
    }

    /// Says in an answer what the offerer, as its parameters show, would like to know: that Opus frames of 10 ms are welcome,
    /// and that playout makes use of the redundancy that Opus has of its own.
    mutating func complete(answering offered: MediaFormat) {
        guard codec == .opus else { return }
        if offered.parameter("minptime") != nil, parameter("minptime") == nil {
            parameters.append(Parameter("minptime", "10"))
        }
        if offered.parameter(Self.codecRedundancy) != nil { takeCodecRedundancy() }
    }

    /// Whether whoever describes this format makes use of what Opus packets may carry of the ones before them (RFC 7587 §6.1).
    public var takesCodecRedundancy: Bool { codec == .opus && parameter(Self.codecRedundancy) == "1" }

    /// Says so of Opus, where nothing is said of it yet.
    public mutating func takeCodecRedundancy() {
        guard codec == .opus, parameter(Self.codecRedundancy) == nil else { return }
        parameters.append(Parameter(Self.codecRedundancy, "1"))
    }

    private static let codecRedundancy = "useinbandfec"

    /// As in an rtpmap line: `opus/48000/2`.
    public var description: String { "\(encodingName)/\(clockRate)/\(channelCount)" }
}

private func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
}
