// SPDX-License-Identifier: Apache-2.0

import BenchReports

/// All topics, with the options of the command line.
struct FileBenchmarks {
    private let topics: Topics
    private let workshop: Workshop

    init(_ arguments: [String]) throws {
        topics = try Topics(
            arguments, topics: ["convert", "rate", "batch", "record", "call", "seek", "quality"],
            longTopics: ["quality"], namedTopics: ["call"], options: ["program", "python", "seconds"])
        guard let program = topics.value("program") else {
            throw Topics.WrongArgument("--program wants the path of earshot")
        }
        workshop = try Workshop(
            program: program, python: topics.value("python") ?? "python3", isLong: topics.isLong,
            seconds: Int(try topics.number("seconds", atLeast: 10, otherwise: topics.isLong ? 3_600 : 30)))
    }

    /// Prints a line for each figure. Returns false if a checked figure misses its limit.
    func run() throws -> Bool {
        defer { workshop.close() }
        return try topics.run { topic in
            switch topic {
            case "convert": try ConversionSpeed.figures(workshop)
            case "rate": try RateQuality.figures(workshop)
            case "batch": try BatchSpeed.figures(workshop)
            case "record": try RecordingCost.figures(workshop)
            case "call": try CallRecordingCost.figures(workshop)
            case "seek": try SeekSpeed.figures(workshop)
            default: try CodecQuality.figures(workshop)
            }
        }
    }
}
