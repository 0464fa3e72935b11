/// Network byte order in raw memory, checked in every build: an index outside the buffer traps, it never reads on.
extension UnsafeRawBufferPointer {
    func byte(_ offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < count)
        return self[offset]
    }

    func bigEndian16(_ offset: Int) -> UInt16 {
        precondition(offset >= 0 && offset <= count - 2)
        return UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    func bigEndian32(_ offset: Int) -> UInt32 {
        precondition(offset >= 0 && offset <= count - 4)
        return UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

extension UnsafeMutableRawBufferPointer {
    func put(_ value: UInt8, at offset: Int) {
        precondition(offset >= 0 && offset < count)
        self[offset] = value
    }

    func put(_ value: UInt16, at offset: Int) {
        precondition(offset >= 0 && offset <= count - 2)
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt16.self)
    }

    func put(_ value: UInt32, at offset: Int) {
        precondition(offset >= 0 && offset <= count - 4)
        storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
    }

    func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        precondition(offset >= 0 && offset <= count && bytes.count <= count - offset)
        guard let to = baseAddress, let from = bytes.baseAddress else { return }
        (to + offset).copyMemory(from: from, byteCount: bytes.count)
    }
}

extension Int {
    /// A measured value as a whole number within the range; not-a-number is 0.
    init(_ value: Double, clampedTo range: ClosedRange<Double>) {
        self = value.isNaN ? 0 : Int(Swift.min(Swift.max(value, range.lowerBound), range.upperBound))
    }
}
