// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Foundation

// counts TOPIC: does the topic's work, under callgrind, which writes what it counted of each case; prints a line for each:
// its name and how many blocks it had, tab-separated. Started by scripts/counts.
// counts port: holds calls in real time, without valgrind.

/// By topic. One process runs one topic.
let topics: [String: () throws -> Void] = [
    "kernels": Kernels.count, "codecs": Codecs.count, "playout": Playouts.count, "engine": Engines.count,
    "packets": Packets.count, "calls": Calls.count, "files": Files.count, "port": Ports.count,
]
guard CommandLine.arguments.count == 2, let topic = topics[CommandLine.arguments[1]] else {
    print("usage: counts \(topics.keys.sorted().joined(separator: "|"))")
    exit(2)
}
// Kernels are chosen by the processor. valgrind has no AVX-512, so under it all x86-64 processors of this decade are the same.
print("vectors\t\(earshot_vector_width())")
do {
    try topic()
} catch {
    print("error: \(error)")
    exit(1)
}
