// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import EarshotAudioDevices
@testable import TestSupport

/// A device that is started and stopped repeatedly.
enum StartBenchmark {
    struct Result: CustomStringConvertible {
        var before: ProcessFootprint
        var after: ProcessFootprint
        var seconds: Double

        private var growth: Int { after.anonymousBytes - before.anonymousBytes }

        var description: String {
            "threads \(before.threads) to \(after.threads), descriptors \(before.descriptors) to \(after.descriptors), "
                + String(
                    format: "own memory %.2f to %.2f MB, %.1f s", Double(before.anonymousBytes) / 1e6,
                    Double(after.anonymousBytes) / 1e6, seconds)
        }

        var faults: [String] {
            (after.threads > before.threads ? ["threads are left"] : [])
                + (after.descriptors > before.descriptors ? ["descriptors are left"] : [])
                + (growth > 2 << 20 ? ["memory is left"] : [])
        }
    }

    static func run(_ bench: Bench, count: Int) throws -> Result {
        let device = try bench.system.open(bench.request)
        func startAndStop() throws {
            let calls = device.monitor.callCount
            try device.start(copyCallback())
            for _ in 0..<2_000 where device.monitor.callCount == calls { usleep(1_000) }
            device.stop()
            while device.monitor.nextRecord() != nil {}
        }
        for _ in 0..<20 { try startAndStop() }
        let (before, start) = (ProcessFootprint.now(), Date())
        for _ in 0..<count { try startAndStop() }
        usleep(100_000)  // a thread that was joined may still be listed for a moment
        return Result(before: before, after: ProcessFootprint.now(), seconds: Date().timeIntervalSince(start))
    }
}
