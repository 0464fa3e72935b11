// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import EarshotAudioBase
@testable import EarshotAudioDevices

/// A plain copy from input to output for some seconds.
enum DuplexBenchmark {
    struct Result: CustomStringConvertible {
        /// Completed callbacks.
        var calls: Int
        /// Callbacks that took longer than a period: xruns caused by this program.
        var ownXruns: Int
        /// The server's other xruns.
        var serverXruns: Int
        var skippedFrames: Int
        /// The durations of callbacks as fractions of a period, ascending.
        var durations: [Double]

        private func quantile(_ part: Double) -> Double {
            durations.isEmpty ? 0 : durations[min(durations.count - 1, Int(part * Double(durations.count)))]
        }

        var description: String {
            "\(calls) calls, xruns of ours \(ownXruns), of the server's \(serverXruns), \(skippedFrames) frames skipped; "
                + String(
                    format: "callback p50 %.2f %%, p99 %.2f %%, max %.2f %% of the period", quantile(0.5) * 100,
                    quantile(0.99) * 100, quantile(1) * 100)
        }

        var faults: [String] {
            (ownXruns > 0 ? ["\(ownXruns) xruns of ours"] : [])
                + (quantile(0.99) < 0.05
                    ? [] : ["callback p99 at \(quantile(0.99) * 100) % of the period, not under 5 %"])
        }
    }

    static func run(_ bench: Bench, seconds: Double) throws -> Result {
        let device = try bench.system.open(bench.request)
        let period = Double(device.blockFrameCount) / device.sampleRate
        var durations: [Double] = []
        durations.reserveCapacity(Int(seconds / period) + 1_000)
        func drain() {
            while let record = device.monitor.nextRecord() { durations.append(Double(record.duration) * 1e-9) }
        }
        try device.start(copyCallback())
        let end = HostTime.now().advanced(bySeconds: seconds)
        while HostTime.now() < end {
            usleep(100_000)
            drain()
            if let failure = device.failure { throw failure }
        }
        device.stop()
        drain()
        let own = device.monitor.overBudgetCount
        return Result(
            calls: device.monitor.callCount, ownXruns: own, serverXruns: max(0, device.monitor.xrunCount - own),
            skippedFrames: device.monitor.skippedFrameCount, durations: durations.map { $0 / period }.sorted())
    }
}

/// Copies the first input to every output.
func copyCallback() -> RenderCallback {
    RenderCallback(context: nil) { _, cycle in
        guard let cycle = cycle?.assumingMemoryBound(to: IOCycle.self).pointee, cycle.input.count > 0 else { return }
        for c in 0..<cycle.output.count { copySamples(cycle.output[c], cycle.input[0], cycle.frameCount) }
    }
}
