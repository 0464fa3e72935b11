// SPDX-License-Identifier: Apache-2.0

/// The attributes for sending less over a slow link: requests for a lower bit rate, and Opus instead of PCM.
extension MediaFormat {
    /// Returns a format of Opus that may replace this format, of the same clock rate, and is never chosen itself. Its parameter
    /// `reserve` is this format's payload type.
    package func reserved(payloadType: UInt8, channelCount: Int) -> MediaFormat {
        var format = MediaFormat.opus(payloadType: payloadType, channelCount: channelCount)
        format.parameters.append(Parameter("reserve", String(self.payloadType)))
        return format
    }

    /// Returns true if this format may only replace another one.
    var isFallbackCodec: Bool { parameter("reserve") != nil }

    /// Returns true if this is Opus that may replace `other`.
    func isFallbackCodec(of other: MediaFormat) -> Bool {
        encodingName.lowercased() == "opus" && clockRate == OpusPayload.clockRate && clockRate == other.clockRate
            && parameter("reserve") == String(other.payloadType)
    }
}

extension SessionDescription {
    /// Adds to an offer that its formats support rate requests, and Opus as the replacement of PCM at 48 kHz with at most two
    /// channels. A format with a single bit rate supports requests too: its sender then knows, and reports, that the link is too
    /// slow.
    package mutating func offerRateRequests() {
        for index in formats.indices where formats[index].codec != nil { formats[index].takesRateRequests = true }
        guard
            let main = formats.first(where: {
                $0.codec?.traits.fallback != nil && $0.clockRate == OpusPayload.clockRate
            }),
            main.channelCount <= 2,
            let freeType = (99...127).first(where: { type in !formats.contains { $0.payloadType == type } })
        else { return }
        formats.append(main.reserved(payloadType: UInt8(freeType), channelCount: main.channelCount))
    }

    /// Adds to an answer the support of rate requests and the replacement by Opus that the offer has for the chosen format.
    package mutating func answerRateRequests(to offer: SessionDescription) {
        guard offer.profile.hasFeedback, let chosen = formats.first, chosen.codec != nil,
            let offered = offer.formats.first(where: { $0.payloadType == chosen.payloadType })
        else { return }
        formats[0].takesRateRequests = offered.takesRateRequests
        guard chosen.codec?.traits.fallback != nil,
            let reserve = offer.formats.first(where: { $0.isFallbackCodec(of: offered) })
        else {
            return
        }
        formats.append(chosen.reserved(payloadType: reserve.payloadType, channelCount: chosen.channelCount))
    }

    /// Returns the rate support that two descriptions share for a format: true if both support requests, and the payload type of
    /// the format's replacement, nil for none.
    static func rate(
        of format: UInt8, mine: SessionDescription, theirs: SessionDescription
    ) -> (takesRequests: Bool, reserve: UInt8?) {
        func named(_ description: SessionDescription) -> (takes: Bool, reserve: UInt8?) {
            guard let main = description.formats.first(where: { $0.payloadType == format }) else { return (false, nil) }
            return (main.takesRateRequests, description.formats.first { $0.isFallbackCodec(of: main) }?.payloadType)
        }
        let (a, b) = (named(mine), named(theirs))
        return (a.takes && b.takes, a.reserve == b.reserve ? a.reserve : nil)
    }
}
