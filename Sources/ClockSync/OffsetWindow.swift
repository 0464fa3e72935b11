// SPDX-License-Identifier: Apache-2.0

/// A direction of the packets between us and the peer.
enum Direction: CaseIterable {
    case outgoing, incoming

    /// The opposite direction.
    var other: Direction { self == .outgoing ? .incoming : .outgoing }
    /// The sign of a path's delay in an offset: an outgoing packet shows the peer's clock too far ahead by its delay, an incoming
    /// one too far behind.
    var sign: Double { self == .outgoing ? 1 : -1 }
}

/// A value for each direction.
struct BothDirections<Value> {
    var outgoing: Value
    var incoming: Value

    init(outgoing: Value, incoming: Value) {
        self.outgoing = outgoing
        self.incoming = incoming
    }

    init(repeating value: Value) { self.init(outgoing: value, incoming: value) }

    subscript(direction: Direction) -> Value {
        get { direction == .outgoing ? outgoing : incoming }
        _modify {
            if direction == .outgoing { yield &outgoing } else { yield &incoming }
        }
    }
}

extension BothDirections: Sendable where Value: Sendable {}
extension BothDirections: BitwiseCopyable where Value: BitwiseCopyable {}

/// The peer's clock less ours in seconds, as a packet shows it, at a time on our clock in seconds.
struct OffsetSample: BitwiseCopyable, Sendable {
    var time: Double
    var offset: Double
}

/// The offsets that the packets of a window show: of the fastest, and of the typical transit time.
struct OffsetWindow: Sendable {
    var fastest: OffsetSample
    var typical: OffsetSample
    /// The transit times after that of the fastest packet; empty if unknown.
    var transits: [ReportedTransit] = []

    /// The earlier of both times.
    var start: Double { min(fastest.time, typical.time) }
    /// The later of both times.
    var end: Double { max(fastest.time, typical.time) }

    /// Returns the window with its offsets increased by `seconds`.
    func shifted(by seconds: Double) -> OffsetWindow {
        var window = self
        window.fastest.offset += seconds
        window.typical.offset += seconds
        return window
    }
}

extension Array<Double> {
    /// The median of a copy; 0 if empty.
    var median: Double {
        guard !isEmpty else { return 0 }
        return sorted()[count / 2]
    }
}

extension Array<OffsetWindow> {
    /// Returns the transit times of a direction's windows as the peer's clock would show them at one time, if it has this rate.
    func transits(_ direction: Direction, rate: Double, at time: Double) -> [RankShift.Transit] {
        flatMap { window in
            let least = direction.sign * (window.fastest.offset - rate * (window.fastest.time - time))
            return window.transits.map { RankShift.Transit(seconds: least + $0.seconds, isHeld: $0.isHeld) }
        }
    }
}
