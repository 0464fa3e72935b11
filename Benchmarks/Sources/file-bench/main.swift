// SPDX-License-Identifier: Apache-2.0

import Foundation

// file-bench --program EARSHOT [--check] [--long] [--seconds S] [--python PYTHON] [TOPIC…]: files converted, sought and recorded,
// beside ffmpeg, sox, flac and lame.
do {
    exit(try FileBenchmarks(Array(CommandLine.arguments.dropFirst())).run() ? 0 : 1)
} catch {
    print("error: \(error)")
    exit(2)
}
