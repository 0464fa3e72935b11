import AudioCodecs
import Foundation

/// What playout takes of a callback, and how fast a call is simulated; shares of time are those of a machine at its pace.
struct PlayoutFigures {
    /// Whether Opus decodes 20 ms in 23 µs, as the machine of docs/figures does where nothing else runs: else nothing is
    /// decided by what is above a limit.
    private var isAtPace = true
    /// By the names of Benchmarks/thresholds.json.
    private(set) var ratios: [String: Double] = [:]

    /// Measures, and prints a line for each figure.
    init() throws {
        let names: [(peers: Int, duration: OpusFrameDuration, limit: Double)] = [
            (1, .milliseconds20, 0.03), (1, .microseconds2500, 0.03), (7, .milliseconds20, 0.2),
            (7, .microseconds2500, 0.2),
        ]
        for (peers, duration, limit) in names {
            let pull = try PullBenchmark(peers: peers, duration: duration)
            if peers == 1, duration == .milliseconds20 { isAtPace = pull.opusAlone * 64 / 48_000 < 23e-6 }
            let name = "\(peers) \(peers == 1 ? "peer" : "peers") of Opus, \(duration.milliseconds) ms"
            print(
                "pull of \(name), 64 frames: "
                    + String(
                        format: "%.2f %% of the period at p99, %.2f %% in the mean; the dearest callback of a packet "
                            + "%.2f %%, of which Opus alone takes %.2f %%", pull.high * 100, pull.mean * 100,
                        pull.dearest * 100, pull.opusAlone * 100))
            keep("pull/\(name)", pull.high, limit: limit)
        }
        let simulation = try SimulationBenchmark()
        print(
            "simulation of 2 peers of PCM, 128 frames, a wired network: "
                + String(
                    format: "%.0f times real time on one core without SRTP, %.0f times with it", 1 / simulation.plain,
                    1 / simulation.encrypted) + "; digest \(simulation.digest)")
        keep("simulation/2 peers of PCM, 128 frames", simulation.plain, limit: 0.005)
    }

    private mutating func keep(_ name: String, _ value: Double, limit: Double) {
        if value > limit, !isAtPace { print("undecided: \(name), as this machine is slower than usual now") }
        ratios[name] = isAtPace ? value : min(value, limit)
    }
}
