/// All topics, with what the command line says of them.
struct EngineBenchmarks {
    private var isChecking = false
    private var isLong = false
    private var seconds = 60.0
    private var chosen: [String] = []
    private static let topics = ["nodes", "mixer", "graph", "edits", "response", "offline", "jack"]

    struct WrongArgument: Error, CustomStringConvertible {
        var description: String
    }

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--check": isChecking = true
            case "--long": isLong = true
            case "--seconds":
                guard let value = rest.popFirst().flatMap({ Double($0) }), value >= 1 else {
                    throw WrongArgument(description: "--seconds wants a number, 1 at least")
                }
                seconds = value
            case _ where Self.topics.contains(argument): chosen.append(argument)
            default:
                throw WrongArgument(
                    description: "\(argument) is unknown; topics are \(Self.topics.joined(separator: ", "))")
            }
        }
        // The device runs in real time, so only where it is asked for.
        if chosen.isEmpty { chosen = Self.topics.filter { $0 != "jack" || isLong } }
    }

    /// Prints a line for each figure; false where one misses its limit and that is checked.
    func run() throws -> Bool {
        var missed = 0
        for topic in chosen {
            for report in try reports(topic) {
                print("\(topic): \(report)")
                if report.verdict == .missed { missed += 1 }
            }
        }
        if isChecking, missed > 0 { print("error: \(missed) figures missed their limits") }
        return missed == 0 || !isChecking
    }

    private func reports(_ topic: String) throws -> [Report] {
        switch topic {
        case "nodes": try NodeCost.figures()
        case "mixer": try MixerCost.figures()
        case "graph": try LargeGraph.figures()
        case "edits": try Report.edits(minutes: isLong ? 10 : 1)
        case "response": try Response.figures()
        case "offline": try OfflineSpeed.figures(minutes: isLong ? 60 : 1)
        default: try LargeGraph.onJACK(seconds: seconds)
        }
    }
}
