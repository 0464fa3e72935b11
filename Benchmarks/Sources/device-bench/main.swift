// SPDX-License-Identifier: Apache-2.0

import Foundation

// device-bench [--check] [--seconds S] [--repeat N] [--starts N]: what real sound servers, started here, give a callback.
do {
    exit(try DeviceBenchmarks(CommandLine.arguments.dropFirst()).run() ? 0 : 1)
} catch {
    print("error: \(error)")
    exit(2)
}
