// SPDX-License-Identifier: Apache-2.0

import BenchReports
import BenchScenes
import Foundation

@testable import EarshotAudioBase
@testable import EarshotAudioDSP
@testable import EarshotAudioDevices
@testable import EarshotAudioEngine
@testable import TestSupport

/// Graphs of 128 nodes, in blocks of 64 frames.
enum LargeGraph {
    static let nodeCount = 128
    /// The maximum share of a period.
    static let limit = 0.15
    private static let period = 64.0 / 48_000

    static func figures() throws -> [Report] { try kinds.flatMap { try figures($0.name, $0.make()) } }

    /// Measures the same on a real server, in real time.
    static func onJACK(seconds: Double) throws -> [Report] {
        try kinds.flatMap { kind in
            try JACKServer.running { server in
                var request = AudioDeviceRequest()
                request.clientName = "engine-bench"
                request.input = .device(id: "system")
                request.output = .device(id: "system")
                request.sampleRate = 48_000
                request.blockFrameCount = 64
                let engine = try kind.make()
                let device = try JACKSystem(serverName: server.name).open(request)
                let watchdog = CallbackWatchdog(monitor: device.monitor)
                try watchdog.start()
                let stolenBefore = stolenSeconds
                try engine.start(on: device)
                usleep(useconds_t(seconds * 1_000_000))
                engine.stop()
                watchdog.stop()
                let report = watchdog.snapshot
                let stolen = stolenSeconds - stolenBefore
                let spread = [report.duration.p50, report.duration.p99, report.duration.maximum]
                    .map { percent($0 / period) }
                let name = "\(nodeCount) nodes, \(kind.name), on JACK, \(Int(seconds)) s, \(report.callCount) calls"
                let server = "jackd, dummy driver, 64 frames at 48 kHz"
                return [
                    Report(
                        "\(name), p50 \(spread[0]), p99 \(spread[1]), max \(spread[2]); the 99th percentile",
                        report.duration.p99 / period * 100, "% of the period", .atMost(limit * 100), against: server),
                    Report(
                        "\(name), xruns of ours (of \(report.xrunCount) in all)", Double(report.overBudgetCount),
                        excuse: stolen >= 0.1
                            ? "the host took the processors for \(decimal(stolen * 1_000, 0)) ms" : nil, "",
                        .atMost(0), against: server),
                ]
            }
        }
    }

    /// The time that the host of a virtual machine has withheld since the start, on all processors, in steps of 10 ms; 0 on a
    /// real machine.
    private static var stolenSeconds: Double {
        let line = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8))?.split(separator: "\n").first ?? ""
        let fields = line.split(separator: " ")
        return fields.count > 8 ? (Double(fields[8]) ?? 0) / Double(sysconf(CInt(_SC_CLK_TCK))) : 0
    }

    /// Memory that is traversed between blocks: 6 MiB, at least the size of a core's caches.
    private struct Sweep {
        private let lines = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: 6 << 17)

        init() { lines.initialize(repeating: 1) }

        func evict() {
            for i in stride(from: 0, to: lines.count, by: 8) { lines[i] &+= 1 }
        }

        func free() { lines.deallocate() }
    }

    private static func figures(_ name: String, _ engine: AudioEngine) throws -> [Report] {
        let sweep = Sweep()
        defer { sweep.free() }
        precondition(engine.attachedNodes.count == nodeCount, "\(engine.attachedNodes.count) nodes")
        let run = try EngineRun(engine)
        run.blocks(1_500)
        let times = (0..<15_000).map { _ in nanoseconds(1) { run.block() } * 1e-9 / period }
        let cold = (0..<3_000).map { _ in
            sweep.evict()
            return nanoseconds(1) { run.block() } * 1e-9 / period
        }
        return [("", times), (" after other work has filled the caches", cold)].map { circumstance, times in
            let parts = Quantiles(times)
            return Report(
                "\(nodeCount) nodes, \(name), 64 frames\(circumstance), \(parts); the median", parts.at(0.5) * 100,
                least: parts.at(0.02) * 100, "% of the period", .atMost(limit * 100), against: "1.333 ms")
        }
    }

    static var kinds: [(name: String, make: () throws -> AudioEngine)] {
        [("a concert", { try Concert().engine }), ("gains and mixers", Graphs.gains)]
    }
}
