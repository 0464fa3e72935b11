// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

extension RateDocument {
    /// One line with the bit rate of a slow link, the codec and bit rate sent over the link, and advice.
    var summary: String {
        let carries = linkBitRate.map { "carries about \(Self.kilobits($0)) kb/s" } ?? "is slow"
        let sound = "\(codec) at \(Self.kilobits(Double(bitRate))) kb/s"
        guard isTooSlow else { return "the link to them \(carries): they are sent \(sound)" }
        let remedy = codec == "opus" ? "or end other transfers" : "end other transfers, or call with Opus"
        return "the link to them \(carries), too little even for \(sound): they hear you with gaps; "
            + "move closer to the access point, use a cable, \(remedy)"
    }

    private static func kilobits(_ bits: Double) -> Int { Int(max(0, min(1e7, bits / 1e3)).rounded()) }
}

extension FormatDocument {
    /// The codec as text: `opus 48 kHz mono, 10 ms a packet`.
    var summary: String {
        let length = (Double(packetFrames) / rate * 1e4).rounded() / 10
        return "\(codec) \(FileFormatting.kilohertz(rate)) \(channels == 1 ? "mono" : "stereo"), \(length) ms a packet"
    }
}
