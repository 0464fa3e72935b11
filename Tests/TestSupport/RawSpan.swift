// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Calls `body` with the bytes, to be written.
    public mutating func withMutableRawSpan<R>(_ body: (inout MutableRawSpan) throws -> R) rethrows -> R {
        var span = mutableSpan
        var bytes = span.mutableBytes
        return try body(&bytes)
    }
}
