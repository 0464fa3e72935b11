import Foundation
import UnitMeasures

// Prints the figures of every unit; `--check` fails where one misses its limit. Topics are files of this folder.
let topics: [(name: String, figures: () -> [Figure])] = [
    ("spatial", SpatialMeasure.figures),
    ("compressor", compressorFigures),
    ("limiter", limiterFigures),
    ("loudness", loudnessFigures),
    ("delay", delayFigures),
    ("reverb", reverbFigures),
    ("reverb-speed", reverbSpeedFigures),
    ("voice-changer", voiceChangerFigures),
    ("conversion", conversionFigures),
    ("generator", generatorFigures),
    ("kernels", KernelSpeed.figures),
    ("equalizer", equalizerFigures),
]
var missed = 0
let arguments = CommandLine.arguments.dropFirst().filter { $0 != "--check" }
for topic in topics where arguments.isEmpty || arguments.contains(topic.name) {
    for figure in topic.figures() {
        print("\(topic.name): \(figure)")
        if !figure.isMet { missed += 1 }
    }
}
if CommandLine.arguments.contains("--check"), missed > 0 {
    print("error: \(missed) figures missed their limits")
    exit(1)
}
