// SPDX-License-Identifier: Apache-2.0

/// The attributes by which two sides agree that either may send less over a slow link: requests for a lower bit rate, and Opus in
/// the place of PCM.
extension MediaFormat {
    /// Opus of a type that may stand in for another format of the same clock, and is not chosen for itself: its parameter
    /// `reserve` is that format's type.
    package func reserved(payloadType: UInt8, channelCount: Int) -> MediaFormat {
        var format = MediaFormat.opus(payloadType: payloadType, channelCount: channelCount)
        format.parameters.append(Parameter("reserve", String(self.payloadType)))
        return format
    }

    /// Returns true if it only stands in for another.
    var isFallbackCodec: Bool { parameter("reserve") != nil }

    /// Returns true if this is Opus that may stand in for another format.
    func isFallbackCodec(of other: MediaFormat) -> Bool {
        encodingName.lowercased() == "opus" && clockRate == OpusPayload.clockRate && clockRate == other.clockRate
            && parameter("reserve") == String(other.payloadType)
    }
}

extension SessionDescription {
    /// Adds to an offer that less may be asked for of its formats, and Opus as the reserve of PCM at its clock, 48 kHz. What has
    /// no reserve and one bit rate is asked all the same: its sender then knows, and says, that the link is too slow.
    package mutating func offerRateRequests() {
        for index in formats.indices where formats[index].codec != nil { formats[index].takesRateRequests = true }
        guard
            let main = formats.first(where: {
                $0.codec?.traits.fallback != nil && $0.clockRate == OpusPayload.clockRate
            }),
            main.channelCount <= 2,
            let free = (99...127).first(where: { type in !formats.contains { $0.payloadType == type } })
        else { return }
        formats.append(main.reserved(payloadType: UInt8(free), channelCount: main.channelCount))
    }

    /// Adds to an answer what the offer names of that, for the format that the answer has taken.
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

    /// Returns the agreement for a format: whether requests are taken, and the type of its fallback.
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
