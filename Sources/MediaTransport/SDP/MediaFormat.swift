// SPDX-License-Identifier: Apache-2.0

/// One format of a media description: an rtpmap line and its fmtp line (RFC 8866 §6.6, §6.15).
public struct MediaFormat: Hashable, Sendable, CustomStringConvertible {
    /// A format parameter: `name=value`, or a word alone, for which the value is empty.
    public struct Parameter: Hashable, Sendable {
        /// The name, case-insensitive.
        public var name: String
        /// The value; may be empty.
        public var value: String

        /// Creates a parameter.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The payload type, 0 to 127.
    public var payloadType: UInt8
    /// The registered name of the encoding, case-insensitive: `MPEG4-GENERIC`, `opus`, `L16`. `opus-custom` is Earshot's own.
    public var encodingName: String
    /// The RTP ticks a second.
    public var clockRate: Int
    /// The number of channels, 1 to 255.
    public var channelCount: Int
    /// The parameters, in the order written.
    public var parameters: [Parameter]
    /// True if the describing side supports generic NACKs for this format: `a=rtcp-fb` (RFC 4585 §4.2).
    package var takesNACK = false
    /// True if the describing side supports requests for a lower bit rate of this format: `a=rtcp-fb` with `ccm tmmbr` (RFC 5104
    /// §7.1).
    package var takesRateRequests = false

    /// Creates a format.
    /// - Precondition: `payloadType` is at most 127.
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

    /// Returns the value of a parameter; nil if there is none.
    public func parameter(_ name: String) -> String? {
        parameters.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The codec of the format; nil if the codec or the parameters are not supported.
    public var codec: Codec? { Codec.allCases.first { $0.traits.payload.isNamed(by: self) } }

    /// Returns true if both formats have the same encoding name, clock rate, number of channels and ``codec``.
    package func matches(_ other: MediaFormat) -> Bool {
        encodingName.lowercased() == other.encodingName.lowercased() && clockRate == other.clockRate
            && channelCount == other.channelCount && codec == other.codec
    }

    /// Adds to the format of an answer what the offered format asks about: that Opus frames of 10 ms are accepted, and that
    /// playout uses Opus's own redundancy.
    mutating func complete(answering offered: MediaFormat) {
        guard hasOwnRedundancy else { return }
        if offered.parameter("minptime") != nil, parameter("minptime") == nil {
            parameters.append(Parameter("minptime", "10"))
        }
        if offered.parameter(Self.codecRedundancy) != nil { takeCodecRedundancy() }
    }

    /// Returns true if the describing side uses the redundancy in Opus packets (in-band FEC, RFC 7587 §6.1).
    package var takesCodecRedundancy: Bool { hasOwnRedundancy && parameter(Self.codecRedundancy) == "1" }

    /// Declares the use of Opus's own redundancy, unless the format already mentions it.
    package mutating func takeCodecRedundancy() {
        guard hasOwnRedundancy, parameter(Self.codecRedundancy) == nil else { return }
        parameters.append(Parameter(Self.codecRedundancy, "1"))
    }

    private var hasOwnRedundancy: Bool { codec?.traits.hasOwnRedundancy ?? false }

    private static let codecRedundancy = "useinbandfec"

    /// The format as in an rtpmap line: `opus/48000/2`.
    public var description: String { "\(encodingName)/\(clockRate)/\(channelCount)" }
}
