// SPDX-License-Identifier: Apache-2.0

import BenchReports
import BenchScenes
import CKernels
import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import PairedTimes

/// The cost of nodes that do nothing: the engine's own work.
///
/// Nanoseconds are the machine's as much as ours, and one that others use is half as fast: so the same figure stands beside
/// the least that a host in C does, and a miss is decided only where that is missed too. Of that an Intel Xeon takes 1.2 times,
/// an AMD EPYC 1.9 to 2.0, whose own C is faster than a node's way from one function to the next.
enum NodeCost {
    static let limit = 20.0
    /// Times the duration of ``ck_visit``.
    private static let ratioLimit = 2.5
    private static let count = 64

    private static let reference = "the graph without them, \(count) in a row"

    static func figures() throws -> [Report] {
        let empty = try Cost { Graphs.emptyUnit() }
        let converter = try Cost { AudioConverterNode(to: AudioFormat(sampleRate: 48_000, channelCount: 2)) }
        let gain = try Cost { AudioUnitEffect(.gain) }
        // Silence goes by what has nothing to say; ten seconds on, the last of them has heard nothing for long enough.
        let idle = try Cost(silentSeconds: 10) { AudioUnitEffect(.equalizer) }
        return [
            report("a unit that does nothing", empty),
            Report(
                "the same, \(decimal(empty.node)) ns beside \(decimal(empty.visit)) ns", empty.ratio,
                "times the duration", .atMost(ratioLimit),
                against: "a call by a pointer that looks whether all samples are numbers, in C, clang -O3"),
            report("a converter that has nothing to convert", converter, excusable: false),
            Report("a unit of one gain, a node and block of 64 stereo frames", gain.node, "ns", against: reference),
            report("an idle equalizer", idle),
        ]
    }

    /// - Parameter excusable: by a machine on which C is as slow.
    private static func report(_ name: String, _ cost: Cost, excusable: Bool = true) -> Report {
        Report(
            "\(name), a node and block of 64 stereo frames", cost.node,
            excuse: excusable && cost.ratio <= ratioLimit
                ? "the machine is slow, C takes \(decimal(cost.visit)) ns" : nil, "ns",
            .atMost(limit), against: reference)
    }

    /// Nanoseconds of a node, beside those of a visit in C, timed in turn.
    private struct Cost {
        let node: Double
        let visit: Double
        /// The median of the ratios of neighbours in time.
        let ratio: Double

        /// - Parameter silentSeconds: of silence before it begins, which then goes on.
        init(silentSeconds: Int = 0, _ node: () -> AudioNode) throws {
            let (run, none) = (try EngineRun(Graphs.chain(count, node)), try EngineRun(Graphs.chain(0, node)))
            if silentSeconds > 0 {
                for run in [run, none] { for c in 0..<2 { clearSamples(run.input.channels[c], 4_096) } }
                run.blocks(48_000 * silentSeconds / 64)
            }
            let times = (0..<201).map { _ -> (node: Double, visit: Double) in
                let more = nanoseconds(200 * count) { run.blocks(200) }
                let less = nanoseconds(200 * count) { none.blocks(200) }
                let visit = nanoseconds(200 * count) {
                    for _ in 0..<200 where ck_visit(count, run.input.channels.pointers, run.frameCount) != 0 {
                        fatalError("the input is no sound")
                    }
                }
                return (more - less, visit)
            }
            self.node = PairedTimes.median(times.map(\.node))
            visit = PairedTimes.median(times.map(\.visit))
            ratio = PairedTimes.median(times.map { $0.node / $0.visit })
        }
    }
}
