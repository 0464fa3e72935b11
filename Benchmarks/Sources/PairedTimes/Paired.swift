// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Two ways to do the same thing, timed alternately in one run, so that other load affects both.
public struct Paired {
    /// Nanoseconds per operation, the median of the repetitions.
    public var ours: Double
    /// The same for the other way.
    public var theirs: Double
    /// The median of the ratios of successive times.
    public var ratio: Double

    /// Runs both alternately.
    /// - Parameters:
    ///   - operations: the operations in one call.
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

/// Returns the median. - Precondition: there is at least one value.
public func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
