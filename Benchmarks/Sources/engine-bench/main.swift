// SPDX-License-Identifier: Apache-2.0

import Foundation

// engine-bench [--check] [--long] [--seconds S] [TOPIC…]: what the engine costs, and what is heard of its edits.
let arguments = Array(CommandLine.arguments.dropFirst())
do {
    exit(try EngineBenchmarks(arguments).run() ? 0 : 1)
} catch {
    print("error: \(error)")
    exit(2)
}
