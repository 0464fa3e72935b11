// SPDX-License-Identifier: Apache-2.0

import CCounts

/// Counts the work of `body`. Bring it to its steady state first.
/// - Parameters:
///   - blocks: the number of blocks, packets or operations in the body; figures are per one.
func counted(_ name: String, _ blocks: Int, _ body: () throws -> Void) rethrows {
    counts_begin()
    try body()
    counts_end()
    print("\(name)\t\(blocks)")
}

/// Counts a repeated operation, after some repetitions that are not counted.
func counted(_ name: String, repeating operation: () throws -> Void) rethrows {
    for _ in 0..<20 { try operation() }
    try counted(name, 100) { for _ in 0..<100 { try operation() } }
}

/// Keeps the optimiser from removing a result.
@inline(never) func opaque<T>(_ value: T) -> T { value }

/// Ends the program if the work did not do what it is counted for.
func require(_ holds: Bool, _ what: String) {
    if !holds { fatalError("counts: \(what)") }
}
