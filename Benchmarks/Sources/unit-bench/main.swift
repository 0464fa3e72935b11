import UnitMeasures

// Prints the figures of every unit; `--check` fails where one misses its limit. Topics are files of this folder.
let topics: [(name: String, figures: () -> [Figure])] = [
    ("voice-changer", { voiceChangerFigures() + voiceChangerCostFigures() })
]
var missed = 0
let arguments = CommandLine.arguments.dropFirst().filter { $0 != "--check" }
for topic in topics where arguments.isEmpty || arguments.contains(topic.name) {
    for figure in topic.figures() {
        print("\(topic.name): \(figure)")
        if !figure.isMet { missed += 1 }
    }
}
if CommandLine.arguments.contains("--check"), missed > 0 { fatalError("\(missed) figures missed their limits") }
