// SPDX-License-Identifier: Apache-2.0

import EarshotCall

extension RateState {
    /// One line with the bit rate of a slow link, the codec and bit rate sent over the link, and advice; nil if the link is fast
    /// enough.
    var summary: String? {
        guard index > 0 || isTooSlow else { return nil }
        let carries = linkBitRate.map { "carries about \(Self.kilobits($0)) kb/s" } ?? "is slow"
        let sound = "\(rung.codec) at \(Self.kilobits(Double(rung.bitRate))) kb/s"
        guard isTooSlow else { return "the link to them \(carries): they are sent \(sound)" }
        let remedy = rung.codec == .opus ? "or end other transfers" : "end other transfers, or call with Opus"
        return "the link to them \(carries), too little even for \(sound): they hear you with gaps; "
            + "move closer to the access point, use a cable, \(remedy)"
    }

    private static func kilobits(_ bits: Double) -> Int { Int(max(0, min(1e7, bits / 1e3)).rounded()) }
}
