// SPDX-License-Identifier: Apache-2.0

/// Writes the boxes of ISO/IEC 14496-12: big-endian numbers, and lengths that are filled in when a box ends.
struct BoxWriter {
    private(set) var bytes: [UInt8] = []

    /// Writes a box with this name and the content that `content` writes.
    mutating func box(_ name: String, _ content: (inout BoxWriter) -> Void) {
        let start = bytes.count
        put32(0)
        bytes += name.utf8
        content(&self)
        set32(bytes.count - start, at: start)
    }

    /// Writes a box that begins with a version and flags.
    mutating func fullBox(_ name: String, version: Int = 0, flags: Int = 0, _ content: (inout BoxWriter) -> Void) {
        box(name) {
            $0.put32(version << 24 | flags)
            content(&$0)
        }
    }

    mutating func put8(_ value: Int) { bytes.append(UInt8(truncatingIfNeeded: value)) }
    mutating func put16(_ value: Int) {
        put8(value >> 8)
        put8(value)
    }
    mutating func put32(_ value: Int) {
        put16(value >> 16)
        put16(value)
    }
    mutating func put64(_ value: Int) {
        put32(value >> 32)
        put32(value)
    }
    mutating func put(_ name: String) { bytes += name.utf8 }
    mutating func put(_ raw: some Sequence<UInt8>) { bytes += raw }
    mutating func zeros(_ count: Int) { for _ in 0..<count { bytes.append(0) } }

    /// Overwrites the number of 32 bits at an offset.
    mutating func set32(_ value: Int, at offset: Int) {
        for i in 0..<4 { bytes[offset + i] = UInt8(truncatingIfNeeded: value >> (24 - 8 * i)) }
    }
}
