// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Two ways to do one thing, timed in turn in one run, so that what else the machine does meets both.
public struct Paired {
    /// Nanoseconds an operation, the median over the repetitions.
    public var ours: Double
    /// The same of the other.
    public var theirs: Double
    /// Median of the ratios of neighbours in time.
    public var ratio: Double

    /// Runs both, turn and turn about.
    /// - Parameters:
    ///   - operations: how many one call does.
    public init(repetitions: Int, operations: Int, ours first: () -> Void, theirs second: () -> Void) {
        first()
        second()
        var pairs: [(ours: Double, theirs: Double)] = []
        for repetition in 0..<repetitions {
            if repetition.isMultiple(of: 2) {
                let a = Self.seconds(first)
                pairs.append((a, Self.seconds(second)))
            } else {
                let b = Self.seconds(second)
                pairs.append((Self.seconds(first), b))
            }
        }
        ours = median(pairs.map(\.ours)) * 1e9 / Double(operations)
        theirs = median(pairs.map(\.theirs)) * 1e9 / Double(operations)
        ratio = median(pairs.map { $0.ours / $0.theirs })
    }

    private static func seconds(_ body: () -> Void) -> Double {
        let start = HostTime.now()
        body()
        return HostTime.now().seconds(since: start)
    }
}

/// The middle value. - Precondition: there is one.
public func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
