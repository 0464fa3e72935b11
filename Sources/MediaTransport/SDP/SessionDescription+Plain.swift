// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// The same for programs that know plain RTP alone: of the profile `RTP/AVP`, with the formats of sound and nothing that asks
    /// for packets, repeats them or stands in for them.
    ///
    /// FFmpeg takes each `a=rtpmap` line for the first format's, whatever its payload type: beside L16 in mono, Opus in reserve (by its
    /// definition `opus/48000/2`) would make it hear stereo at half the speed. It wants one format, so offer one codec.
    package var plain: SessionDescription {
        var plain = self
        plain.profile = .avp
        plain.extendedReports = []
        plain.formats = formats.filter { $0.codec != nil }
        for index in plain.formats.indices {
            plain.formats[index].takesNACK = false
            plain.formats[index].takesRateRequests = false
        }
        return plain
    }
}
