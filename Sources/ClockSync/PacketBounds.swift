// SPDX-License-Identifier: Apache-2.0

/// The offset as the middle of the bounds that the fastest packets set, where delay has a floor that packets reach.
///
/// No outgoing packet can show an offset below the true one, and no incoming packet one above it. Two parallel lines below all
/// outgoing and above all incoming offsets, as far apart as possible, are the tightest bounds (V. Paxson, "On calibrating
/// measurements of packet transit times", 1998; S. Moon, P. Skelly, D. Towsley, "Estimation and removal of clock skew from network
/// delay measurements", 1999: a linear program; Y. Geng et al., "Exploiting a natural network effect for scalable, fine-grained
/// clock synchronization" (Huygens), 2018: the widest margin in both directions at once). The margin is a concave function of the
/// rate, so a golden-section search finds it.
struct PacketBounds: BitwiseCopyable, Sendable {
    /// The offsets that the two lines have at the fit's origin: the true one lies between them.
    private(set) var limits = BothDirections(repeating: 0.0)
    /// The peer's seconds per second of ours, less 1.
    private(set) var rate = 0.0
    /// The seconds that hold the offset's error in 95 % of cases, if the least delays are alike; from the distances of the
    /// fastest packets to their line.
    private(set) var error = 0.0

    /// The peer's clock less ours in seconds at the origin.
    var offset: Double { (limits.outgoing + limits.incoming) / 2 }
    /// The least round trip in seconds.
    var roundTrip: Double { limits.outgoing - limits.incoming }

    private static let leastWindows = 4
    /// The share of a line's duration by which it errs, because a wandering rate bends the offsets: 5 µs in 10 s. With less, an
    /// hour's errors on `lan` exceed the claim (ClockSyncErrorTests).
    private static let bend = 5e-7
    private static let goldenSection = (3 - 5.0.squareRoot()) / 2

    /// - Parameters:
    ///   - windows: at least one for each direction.
    ///   - origin: the time to which ``offset`` belongs.
    ///   - rates: the rates to choose from.
    init(_ windows: BothDirections<[OffsetWindow]>, at origin: Double, rates: ClosedRange<Double>) {
        var low = rates.lowerBound
        var high = rates.upperBound
        for _ in 0..<25 {
            let step = (high - low) * Self.goldenSection
            if Self.margin(windows, origin, low + step) < Self.margin(windows, origin, high - step) {
                low += step
            } else {
                high -= step
            }
        }
        rate = (low + high) / 2
        let times = windows.outgoing.map(\.fastest.time)
        error = Self.bend * ((times.max() ?? 0) - (times.min() ?? 0))
        for direction in Direction.allCases {
            let delays = Self.delays(windows[direction], direction, origin, rate).sorted()
            limits[direction] = delays[0] * direction.sign
            // The gaps between the first order statistics measure how sharp the floor is.
            error +=
                delays.count < Self.leastWindows ? .infinity : 0.8 * (delays[min(4, delays.count - 1)] - delays[0])
        }
    }

    /// Returns the offset in seconds by which a sample is beyond the line of `direction`, towards longer delays.
    func excess(_ sample: OffsetSample, beyond direction: Direction, at origin: Double) -> Double {
        (sample.offset - rate * (sample.time - origin) - limits[direction]) * direction.sign
    }

    private static func delays(
        _ windows: [OffsetWindow], _ direction: Direction, _ origin: Double, _ rate: Double
    ) -> some Sequence<Double> {
        windows.lazy.map { ($0.fastest.offset - rate * ($0.fastest.time - origin)) * direction.sign }
    }

    private static func margin(_ windows: BothDirections<[OffsetWindow]>, _ origin: Double, _ rate: Double) -> Double {
        Direction.allCases.reduce(0) { sum, direction in
            sum + (delays(windows[direction], direction, origin, rate).min() ?? 0)
        }
    }
}
