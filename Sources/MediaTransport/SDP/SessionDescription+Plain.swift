// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// The description for programs that support only plain RTP: with the profile `RTP/AVP` and the formats of sound, and without
    /// repair, retransmission, replacement, block and send times.
    ///
    /// FFmpeg applies each `a=rtpmap` line to the first format, whatever its payload type: next to L16 in mono, Opus as a
    /// replacement (`opus/48000/2`) would make it play stereo at half the speed. It needs one format, so offer one codec.
    package var plain: SessionDescription {
        var plain = self
        plain.profile = .avp
        plain.extendedReports = []
        plain.sendTimeID = nil
        plain.blockTime = nil
        plain.formats = formats.filter { $0.codec != nil }
        for index in plain.formats.indices {
            plain.formats[index].takesNACK = false
            plain.formats[index].takesRateRequests = false
        }
        return plain
    }
}
