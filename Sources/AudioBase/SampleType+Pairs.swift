// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

// Converts two interleaved channels at once: a whole frame is then read or written as one or two words, and the loop becomes
// vector code. It would not for one channel at a time, whose samples are two samples apart.
extension SampleType {
    /// Converts interleaved stereo to planar samples. Returns false, and does nothing, for a sample type that gains no speed.
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
                let rightWord = (low &>> 16 & 0xFF00) | high &<< 16
                left[i] = Float(Int32(bitPattern: low &<< 8)) * (1 / 2_147_483_648)
                right[i] = Float(Int32(bitPattern: rightWord)) * (1 / 2_147_483_648)
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

    /// Converts planar samples to interleaved stereo. Returns false, and does nothing, for a sample type that gains no speed.
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

// One channel of the most common types: with explicit vectors, so that the buffers' addresses are not compared first.

@_noLocks @inline(never)
func readInt16(_ bytes: UnsafeRawPointer, _ to: UnsafeMutablePointer<Float>, _ count: Int) {
    var (source, target, remaining) = (bytes, to, count)
    let scale = SIMD4<Float>(repeating: 1 / 32_768)
    while remaining >= 16 {
        storeFour(earshot_int16_to_float4(source) * scale, target)
        storeFour(earshot_int16_to_float4(source + 8) * scale, target + 4)
        storeFour(earshot_int16_to_float4(source + 16) * scale, target + 8)
        storeFour(earshot_int16_to_float4(source + 24) * scale, target + 12)
        source += 32
        target += 16
        remaining &-= 16
    }
    while remaining > 0 {
        target.pointee = Float(source.loadUnaligned(as: Int16.self)) * (1 / 32_768)
        source += 2
        target += 1
        remaining &-= 1
    }
}

@_noLocks @inline(never)
func readInt32(_ bytes: UnsafeRawPointer, _ to: UnsafeMutablePointer<Float>, _ count: Int) {
    var (source, target, remaining) = (bytes, to, count)
    let scale = SIMD4<Float>(repeating: 1 / 2_147_483_648)
    while remaining >= 16 {
        storeFour(earshot_int32_to_float4(source) * scale, target)
        storeFour(earshot_int32_to_float4(source + 16) * scale, target + 4)
        storeFour(earshot_int32_to_float4(source + 32) * scale, target + 8)
        storeFour(earshot_int32_to_float4(source + 48) * scale, target + 12)
        source += 64
        target += 16
        remaining &-= 16
    }
    while remaining > 0 {
        target.pointee = Float(source.loadUnaligned(as: Int32.self)) * (1 / 2_147_483_648)
        source += 4
        target += 1
        remaining &-= 1
    }
}

@_noLocks @inline(never)
func writeInt16(_ samples: UnsafePointer<Float>, _ count: Int, _ bytes: UnsafeMutableRawPointer) {
    var (source, target, remaining) = (samples, bytes, count)
    let scale = SIMD4<Float>(repeating: 32_768)
    while remaining >= 8 {
        earshot_float8_to_int16(loadFour(source) * scale, loadFour(source + 4) * scale, target)
        source += 8
        target += 16
        remaining &-= 8
    }
    while remaining > 0 {
        target.storeBytes(of: UInt16(truncatingIfNeeded: integer16(source.pointee)), as: UInt16.self)
        source += 1
        target += 2
        remaining &-= 1
    }
}
