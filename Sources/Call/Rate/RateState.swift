import MediaTransport

/// As what a far side is sent its sound, and what the link to it carries.
public struct RateState: Hashable, Sendable {
    /// What is sent at present, but for the fraction of a second in which a queue before the link is emptied; the first of the
    /// ladder is what was agreed on.
    public var rung: RateRung
    /// Its place on the ladder, 0 for what was agreed on.
    public var index = 0
    /// Bits a second that the link carries, headers counted, as the far side found when it last was too slow; nil where it never
    /// was, or made no such finding.
    public var linkBitRate: Double?
    /// Whether the link is too slow for the least that can be sent.
    public var isTooSlow = false
    /// How often less was sent from then on, and how often more.
    public var stepsDown = 0
    /// The same of more.
    public var stepsUp = 0
    /// How often this end found that the link from the far side is too slow, and told it so.
    public var requestsSent = 0

    init(_ rung: RateRung) { self.rung = rung }

    /// One line for the user where the link is, or was made out to be, too slow; nil where all is well.
    public var words: String? {
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
