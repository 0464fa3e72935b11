import UnitMeasures

/// A figure of time, with what it is where nothing else runs.
struct Report: CustomStringConvertible {
    enum Verdict { case met, missed, undecided }

    let name: String
    let value: Double
    /// The least that was measured; where the value misses its limit and this does not, the machine is busy and nothing is
    /// decided.
    let least: Double
    /// Why a miss decides nothing, where that is known otherwise.
    let excuse: String?
    let unit: String
    let limit: Figure.Limit?
    let reference: String

    init(
        _ name: String, _ value: Double, least: Double? = nil, excuse: String? = nil, _ unit: String,
        _ limit: Figure.Limit? = nil,
        against reference: String
    ) {
        self.name = name
        self.value = value
        self.least = least ?? value
        self.excuse = excuse
        self.unit = unit
        self.limit = limit
        self.reference = reference
    }

    private func figure(_ value: Double) -> Figure {
        Figure(name, value, unit, limit ?? .within(-.infinity ... .infinity), against: reference)
    }

    var verdict: Verdict {
        if figure(value).isMet { return .met }
        return excuse != nil || figure(least).isMet ? .undecided : .missed
    }

    var description: String {
        let bare = "\(name): \(decimal(value, value < 10 ? 2 : 1)) \(unit) (against \(reference))"
        guard limit != nil else { return bare }
        let words = "\(figure(value))"
        return verdict == .undecided
            ? words.replacing(
                "MISSED", with: "undecided: \(excuse ?? "the machine is busy; at best \(decimal(least)) \(unit)")")
            : words
    }
}
