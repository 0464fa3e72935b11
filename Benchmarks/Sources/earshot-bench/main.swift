import Foundation

// earshot-bench [--check thresholds.json]: prints one line a benchmark, and with --check fails where one is too slow.
// earshot-bench playout: prints those of playout and of the simulation alone.
var ratios: [String: Double] = [:]

if CommandLine.arguments.dropFirst() == ["playout"] {
    _ = try PlayoutFigures()
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
    ratios["codec/\(codec.name)/encode"] = codec.encodeLoad
    ratios["codec/\(codec.name)/decode"] = codec.decodeLoad
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
    // A share of real time is one of a machine at its pace, at which Opus takes 40 µs to encode 10 ms.
    let pace = (ratios["codec/Opus 64 kb/s, 10.0 ms/encode"] ?? 0) * 0.010
    if pace > 44e-6, concealment.begun > 0.3 {
        print(String(format: "undecided: Opus takes %.0f µs for 10 ms on this machine now", pace * 1e6))
    }
    ratios["concealment/\(name)"] = pace > 44e-6 ? min(concealment.begun, 0.3) : concealment.begun
}

ratios.merge(try PlayoutFigures().ratios) { $1 }

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
