// SPDX-License-Identifier: Apache-2.0

extension SimulatedCard {
    /// An event of a card. Times are seconds on the machine's clock since the card's start.
    public enum Event: Hashable, Sendable {
        /// The card makes no callbacks for a while but keeps counting: `sampleTime` jumps over the missed frames.
        case stall(at: Double, for: Double)
        /// The machine with the card is suspended for a while: the clock jumps, `sampleTime` does not.
        case suspend(at: Double, for: Double)
        /// From this time on the card's crystal is fast by these parts per million; slow if they are negative.
        case drift(at: Double, ppm: Double)
        /// The card is unplugged. With a length, it is replugged after this time if a ``SimulatedSystem`` lists it.
        case vanish(at: Double, for: Double? = nil)

        /// The beginning of the event in seconds since the card's start.
        package var time: Double {
            switch self {
            case .stall(let at, _), .suspend(let at, _), .drift(let at, _), .vanish(let at, _): at
            }
        }

        private var length: Double {
            switch self {
            case .stall(_, let length), .suspend(_, let length): length
            case .drift: .infinity
            case .vanish(_, let length): length ?? .infinity
            }
        }

        /// Returns the event with times counted from `elapsed` seconds after the card's start; nil if the event is over.
        func remaining(after elapsed: Double) -> Event? {
            let start = max(0, time - elapsed)
            let length = min(length, time + length - elapsed)
            guard length > 0 else { return nil }
            switch self {
            case .stall: return .stall(at: start, for: length)
            case .suspend: return .suspend(at: start, for: length)
            case .drift(_, let ppm): return .drift(at: start, ppm: ppm)
            // A removal that has begun is over, since a device can be opened again only after the card was replugged.
            case .vanish(let at, let length): return at > elapsed ? .vanish(at: start, for: length) : nil
            }
        }

        func validate() throws(AudioDeviceError) {
            func bad(_ detail: String) -> AudioDeviceError { .unsupportedFormat(detail: "a script with \(detail)") }
            guard time >= 0, time < 1e6 else {
                throw bad("an event at \(time) s; supported: from 0 to below 1000000 s")
            }
            switch self {
            case .stall, .suspend, .vanish(_, .some):
                guard length > 0, length < 1e6 else {
                    throw bad("an event of \(length) s; supported: above 0 and below 1000000 s")
                }
            case .drift(_, let ppm):
                guard abs(ppm) <= 10_000 else { throw bad("a drift of \(ppm) ppm; supported: −10000 to 10000") }
            case .vanish(_, .none): break
            }
        }
    }

    /// The deviation of each callback from its due time.
    public enum Jitter: Hashable, Sendable {
        case none
        /// Callbacks are early or late by at most these seconds, equally distributed.
        case uniform(Double)
        /// Callbacks are late by these seconds on average, exponentially distributed.
        case exponential(mean: Double)

        func validate() throws(AudioDeviceError) {
            let scale =
                switch self {
                case .none: 0.0
                case .uniform(let scale), .exponential(let scale): scale
                }
            guard scale >= 0, scale <= 1 else {
                throw .unsupportedFormat(detail: "a jitter of \(scale) s; supported: 0 to 1")
            }
        }
    }
}
