// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import Foundation

/// The cost of playout in a callback, and the speed of a simulated call. Shares of time are those of a machine at its usual
/// speed. scripts/counts guards both.
enum PlayoutFigures {
    /// Measures, and prints a line for each figure.
    static func report() throws {
        for (peers, duration) in [
            (1, OpusFrameDuration.milliseconds20), (1, .microseconds2500), (7, .milliseconds20), (7, .microseconds2500),
        ] {
            let pull = try PullBenchmark(peers: peers, duration: duration)
            print(
                "pull of \(peers) \(peers == 1 ? "peer" : "peers") of Opus, \(duration.milliseconds) ms, 64 frames: "
                    + String(
                        format: "%.2f %% of the period at p99, %.2f %% in the mean; the dearest callback of a packet "
                            + "%.2f %%, of which Opus alone takes %.2f %%", pull.high * 100, pull.mean * 100,
                        pull.dearest * 100, pull.opusAlone * 100))
        }
        let simulation = try SimulationBenchmark()
        print(
            "simulation of 2 peers of PCM, 128 frames, a wired network: "
                + String(
                    format: "%.0f times real time on one core without SRTP, %.0f times with it", 1 / simulation.plain,
                    1 / simulation.encrypted) + "; digest \(simulation.digest)")
    }
}
