// SPDX-License-Identifier: Apache-2.0

import BenchReports

/// All topics, with the options of the command line.
struct EngineBenchmarks {
    private let topics: Topics
    private let seconds: Double

    init(_ arguments: [String]) throws {
        // The device runs in real time, so it is measured only on request.
        topics = try Topics(
            arguments, topics: ["nodes", "mixer", "graph", "edits", "response", "offline", "jack"],
            longTopics: ["jack"], options: ["seconds"])
        seconds = try topics.number("seconds", atLeast: 1, otherwise: 60)
    }

    /// Prints a line for each figure. Returns false if a checked figure misses its limit.
    func run() throws -> Bool {
        try topics.run { topic in
            switch topic {
            case "nodes": try NodeCost.figures()
            case "mixer": try MixerCost.figures()
            case "graph": try LargeGraph.figures()
            case "edits": try Report.edits(minutes: topics.isLong ? 10 : 1)
            case "response": try Response.figures()
            case "offline": try OfflineSpeed.figures(minutes: topics.isLong ? 60 : 1)
            default: try LargeGraph.onJACK(seconds: seconds)
            }
        }
    }
}
