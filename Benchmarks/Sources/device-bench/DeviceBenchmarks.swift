// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Foundation

/// All benchmarks, with the options of the command line.
struct DeviceBenchmarks {
    private var isChecking = false
    private var seconds = 60.0
    private var repetitions = 10
    private var starts = 1_000

    struct WrongArgument: Error, CustomStringConvertible {
        var description: String
    }

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)
        while let option = rest.first {
            rest.removeFirst()
            if option == "--check" {
                isChecking = true
                continue
            }
            guard let value = rest.first.flatMap({ Double($0) }), value > 0 else {
                throw WrongArgument(description: "\(option) is unknown or lacks a number; see scripts/bench --help")
            }
            rest.removeFirst()
            switch option {
            case "--seconds": seconds = value
            case "--repeat": repetitions = Int(value)
            case "--starts": starts = Int(value)
            default: throw WrongArgument(description: "unknown option \(option); see scripts/bench --help")
            }
        }
    }

    /// Prints a line for each device. Returns false if a checked figure misses its limit.
    func run() throws -> Bool {
        var faults: [String] = []
        for kind in [Bench.Kind.jack, .pipewire] {
            for number in 1...repetitions {
                let result = try Bench.with(kind) { try DuplexBenchmark.run($0, seconds: seconds) }
                print(
                    "duplex \(kind.name), 64 frames at 48 kHz, \(Int(seconds)) s, \(number) of \(repetitions): \(result)"
                )
                faults += result.faults.map { "\(kind.name): \($0)" }
            }
        }
        for kind in Bench.Kind.allCases {
            let result = try Bench.with(kind) { try StartBenchmark.run($0, count: starts) }
            print("start and stop \(kind.name), \(starts) times: \(result)")
            faults += result.faults.map { "\(kind.name): \($0)" }
        }
        for fault in faults where isChecking { print("error: \(fault)") }
        return faults.isEmpty || !isChecking
    }
}
