// SPDX-License-Identifier: Apache-2.0

import Foundation

// earshot-bench [--check thresholds.json]: prints one line a benchmark, and with --check fails where one is above its limit.
// earshot-bench playout: prints those of playout and of the simulation alone.
var ratios: [String: Double] = [:]

if CommandLine.arguments.dropFirst() == ["playout"] {
    try PlayoutFigures.report()
    exit(0)
}

for (name, what, result) in [
    ("ring/jack_ringbuffer", "128 samples written and read", RingBenchmark.oneThread()),
    ("ring/jack_ringbuffer, two threads", "128 samples from thread to thread", RingBenchmark.twoThreads()),
] {
    let times = String(format: "%.1f ns, jack_ringbuffer %.1f ns, ratio %.2f", result.ours, result.theirs, result.ratio)
    print("ring \(what): \(times)")
    ratios[name] = result.ratio
}

for codec in try CodecBenchmark.all() {
    let scale = codec.packetDuration * 1e6
    print(
        "codec \(codec.name): "
            + String(
                format: "encode %.1f µs a packet, %.0f times real time; decode %.1f µs, %.0f times",
                codec.encodeLoad * scale, 1 / codec.encodeLoad, codec.decodeLoad * scale, 1 / codec.decodeLoad))
}

let predictor = PredictorBenchmark()
print(
    "concealment alone, 256 coefficients of 704 frames: "
        + String(format: "an analysis %.1f µs, a frame %.1f ns", predictor.analysis * 1e6, predictor.frame * 1e9))
for channelCount in [1, 2] {
    let concealment = try ConcealmentBenchmark(channelCount: channelCount)
    let name = "\(ConcealmentBenchmark.peers) peers of \(channelCount == 1 ? "mono" : "stereo")"
    print(
        "concealment for \(name) at once, 64 frames: "
            + String(
                format: "%.1f %% of the period in the callback that begins it (p90 %.1f %%), %.1f %% without",
                concealment.begun * 100, concealment.high * 100, concealment.plain * 100))
}

try PlayoutFigures.report()

for clock in ClockBenchmark.all() {
    let name = "clock/\(clock.block) frames, \(clock.jitter.rawValue)"
    print(
        name.replacing("clock/", with: "clock ")
            + String(
                format: ": error p99 %.1f µs after 5 s, drift within %.2f ppm in 20 s", clock.error * 1e6, clock.drift))
    ratios["\(name)/error"] = clock.error * 1e6
    ratios["\(name)/drift"] = clock.drift
}

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--check" {
    let data = try Data(contentsOf: URL(filePath: CommandLine.arguments[2]))
    var failed = false
    for (name, limit) in try JSONDecoder().decode([String: Double].self, from: data).sorted(by: { $0.key < $1.key }) {
        let ratio = ratios[name] ?? .infinity
        if !(ratio <= limit) {
            failed = true
            print("error: \(name) is \(String(format: "%.2f", ratio)), above \(limit)")
        }
    }
    exit(failed ? 1 : 0)
}
