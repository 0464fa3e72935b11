// SPDX-License-Identifier: Apache-2.0

/// Reads integers in raw memory. The bounds are checked in every build.
extension RawSpan {
    func byte(_ offset: Int) -> UInt8 { native(offset, as: UInt8.self) }

    func bigEndian16(_ offset: Int) -> UInt16 { UInt16(bigEndian: native16(offset)) }

    func bigEndian32(_ offset: Int) -> UInt32 { UInt32(bigEndian: native32(offset)) }

    func bigEndian128(_ offset: Int) -> UInt128 { UInt128(bigEndian: native(offset, as: UInt128.self)) }

    /// Reads a 16-bit number in the machine's byte order.
    func native16(_ offset: Int) -> UInt16 { native(offset, as: UInt16.self) }

    func native32(_ offset: Int) -> UInt32 { native(offset, as: UInt32.self) }

    func native<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: Number.Type) -> Number {
        let size = MemoryLayout<Number>.size
        precondition(offset >= 0 && offset <= byteCount - size)
        return unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: type)
    }

    var text: String { unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }

    func starts(with other: RawSpan) -> Bool {
        guard byteCount >= other.byteCount else { return false }
        for i in 0..<other.byteCount where byte(i) != other.byte(i) { return false }
        return true
    }
}

extension MutableRawSpan {
    @_lifetime(self: copy self)
    mutating func put(_ value: UInt8, at offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    }

    @_lifetime(self: copy self)
    mutating func put(_ value: UInt16, at offset: Int) {
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt16.self)
    }

    @_lifetime(self: copy self)
    mutating func put(_ value: UInt32, at offset: Int) {
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
    }

    @_lifetime(self: copy self)
    mutating func put(_ bytes: RawSpan, at offset: Int) {
        precondition(offset >= 0 && offset <= byteCount && bytes.byteCount <= byteCount - offset)
        guard !bytes.isEmpty else { return }
        unsafe withUnsafeMutableBytes { destination in
            unsafe bytes.withUnsafeBytes {
                unsafe UnsafeMutableRawBufferPointer(rebasing: destination[offset...]).copyMemory(from: $0)
            }
        }
    }
}

extension Int {
    /// Creates an integer from a value that is clamped to the range and truncated towards zero; NaN becomes 0.
    init(_ value: Double, clampedTo range: ClosedRange<Double>) {
        self = value.isNaN ? 0 : Int(Swift.min(Swift.max(value, range.lowerBound), range.upperBound))
    }
}
