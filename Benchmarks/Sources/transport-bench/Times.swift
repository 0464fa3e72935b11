// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The median and the minimum of repetitions, in microseconds.
struct Times {
    private var list: [Double] = []

    /// Times this many operations at once.
    mutating func add(_ operations: Int, _ body: () -> Void) {
        let start = HostTime.now()
        body()
        list.append(HostTime.now().seconds(since: start) * 1e6 / Double(operations))
    }

    var median: Double { list.sorted()[list.count / 2] }
    var least: Double { list.min() ?? 0 }
    var all: [Double] { list }
}
