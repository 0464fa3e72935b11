// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

// Two interleaved channels at once: a frame is one word of memory, which makes vector code where single channels, two apart,
// would not.
extension SampleType {
    /// Converts both channels of stereo at once. Returns false, with nothing done, for a type without an advantage.
    @_noLocks @inline(never)
    func readPair(
        _ bytes: UnsafeRawPointer, _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>,
        _ count: Int
    ) -> Bool {
        switch self {
        case .int16:
            for i in 0..<count {
                let frame = bytes.loadUnaligned(fromByteOffset: 4 &* i, as: UInt32.self).littleEndian
                left[i] = Float(Int32(bitPattern: frame &<< 16) &>> 16) * (1 / 32_768)
                right[i] = Float(Int32(bitPattern: frame) &>> 16) * (1 / 32_768)
            }
        case .int24:
            for i in 0..<count {
                let at = bytes + 6 &* i
                let low = at.loadUnaligned(as: UInt32.self).littleEndian
                let high = UInt32(at.loadUnaligned(fromByteOffset: 4, as: UInt16.self).littleEndian)
                let beside = (low &>> 16 & 0xFF00) | high &<< 16
                left[i] = Float(Int32(bitPattern: low &<< 8)) * (1 / 2_147_483_648)
                right[i] = Float(Int32(bitPattern: beside)) * (1 / 2_147_483_648)
            }
        case .int32:
            for i in 0..<count {
                let at = bytes + 8 &* i
                left[i] = Float(at.loadUnaligned(as: Int32.self)) * (1 / 2_147_483_648)
                right[i] = Float(at.loadUnaligned(fromByteOffset: 4, as: Int32.self)) * (1 / 2_147_483_648)
            }
        default: return false
        }
        return true
    }

    /// Writes both channels of stereo at once. Returns false, with nothing done, for a type without an advantage.
    @_noLocks @inline(never)
    func writePair(
        _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ count: Int, _ bytes: UnsafeMutableRawPointer
    ) -> Bool {
        switch self {
        case .int16:
            for i in 0..<count {
                let frame = (integer16(left[i]) & 0xFFFF) | integer16(right[i]) &<< 16
                bytes.storeBytes(of: frame.littleEndian, toByteOffset: 4 &* i, as: UInt32.self)
            }
        case .int24:
            for i in 0..<count {
                let (a, b) = (integer(left[i], 8_388_608) & 0xFF_FFFF, integer(right[i], 8_388_608))
                let at = bytes + 6 &* i
                at.storeBytes(of: (a | b &<< 24).littleEndian, as: UInt32.self)
                at.storeBytes(
                    of: UInt16(truncatingIfNeeded: b &>> 8).littleEndian, toByteOffset: 4, as: UInt16.self)
            }
        case .int32:
            for i in 0..<count {
                let at = bytes + 8 &* i
                at.storeBytes(of: integer(left[i], 2_147_483_648), as: UInt32.self)
                at.storeBytes(of: integer(right[i], 2_147_483_648), toByteOffset: 4, as: UInt32.self)
            }
        default: return false
        }
        return true
    }
}

// One channel of the most common type: with vectors, so that addresses need not be compared first.

@_noLocks @inline(never)
func readInt16(_ bytes: UnsafeRawPointer, _ to: UnsafeMutablePointer<Float>, _ count: Int) {
    var (from, at, left) = (bytes, to, count)
    let scale = SIMD4<Float>(repeating: 1 / 32_768)
    while left >= 16 {
        storeFour(earshot_int16_to_float4(from) * scale, at)
        storeFour(earshot_int16_to_float4(from + 8) * scale, at + 4)
        storeFour(earshot_int16_to_float4(from + 16) * scale, at + 8)
        storeFour(earshot_int16_to_float4(from + 24) * scale, at + 12)
        from += 32
        at += 16
        left &-= 16
    }
    while left > 0 {
        at.pointee = Float(from.loadUnaligned(as: Int16.self)) * (1 / 32_768)
        from += 2
        at += 1
        left &-= 1
    }
}

@_noLocks @inline(never)
func readInt32(_ bytes: UnsafeRawPointer, _ to: UnsafeMutablePointer<Float>, _ count: Int) {
    var (from, at, left) = (bytes, to, count)
    let scale = SIMD4<Float>(repeating: 1 / 2_147_483_648)
    while left >= 16 {
        storeFour(earshot_int32_to_float4(from) * scale, at)
        storeFour(earshot_int32_to_float4(from + 16) * scale, at + 4)
        storeFour(earshot_int32_to_float4(from + 32) * scale, at + 8)
        storeFour(earshot_int32_to_float4(from + 48) * scale, at + 12)
        from += 64
        at += 16
        left &-= 16
    }
    while left > 0 {
        at.pointee = Float(from.loadUnaligned(as: Int32.self)) * (1 / 2_147_483_648)
        from += 4
        at += 1
        left &-= 1
    }
}

@_noLocks @inline(never)
func writeInt16(_ samples: UnsafePointer<Float>, _ count: Int, _ bytes: UnsafeMutableRawPointer) {
    var (from, at, left) = (samples, bytes, count)
    let scale = SIMD4<Float>(repeating: 32_768)
    while left >= 8 {
        earshot_float8_to_int16(loadFour(from) * scale, loadFour(from + 4) * scale, at)
        from += 8
        at += 16
        left &-= 8
    }
    while left > 0 {
        at.storeBytes(of: UInt16(truncatingIfNeeded: integer16(from.pointee)), as: UInt16.self)
        from += 1
        at += 2
        left &-= 1
    }
}
