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
/// Nanoseconds depend on the machine, and a busy one is half as fast. So each figure is reported with the minimum for a host in
/// C, and a miss is undecided if that also misses. An Intel Xeon takes 1.2 times as long as C, an AMD EPYC, where C is faster
/// than a node's call from one function to the next, 1.9 to 2.0.
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
        // Silence bypasses nodes without output; after ten seconds even the last one has been silent for long enough.
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

    /// - Parameter excusable: true if a machine on which C is as slow excuses a miss.
    private static func report(_ name: String, _ cost: Cost, excusable: Bool = true) -> Report {
        Report(
            "\(name), a node and block of 64 stereo frames", cost.node,
            excuse: excusable && cost.ratio <= ratioLimit
                ? "the machine is slow, C takes \(decimal(cost.visit)) ns" : nil, "ns",
            .atMost(limit), against: reference)
    }

    /// Nanoseconds per node and per visit in C, timed alternately.
    private struct Cost {
        let node: Double
        let visit: Double
        /// The median of the ratios of successive times.
        let ratio: Double

        /// - Parameter silentSeconds: the seconds of silence before the measurement, which then continues.
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
