// SPDX-License-Identifier: Apache-2.0

// Full scale is 2^(bits − 1) for reading and for writing, so that every integer of up to 24 bits is the same after reading and
// writing. Writing rounds to the nearest integer, ties to even, and clamps to the type's range. To round, 1.5 × 2^23 (in Double
// 1.5 × 2^52) is added: the rounded integer is then in the low bits of the sum. This needs no function call and is vector code.
extension SampleType {
    /// Converts interleaved bytes to planar samples. Safe on the render thread.
    ///
    /// A floating-point NaN or infinity becomes 0.
    /// - Parameters:
    ///   - bytes: `frameCount` × `channelCount` samples, at any alignment.
    ///   - channelCount: the channels in the bytes, at least 1.
    ///   - channels: room for `frameCount` frames after `offset`.
    ///   - map: for each of `channels`, the number of a channel in the bytes, from 0; silent if there is no such channel. Nil for
    ///     the same order.
    @_noLocks
    package func read(
        _ bytes: UnsafeRawPointer, channelCount: Int, frameCount: Int, into channels: Channels, offset: Int = 0,
        map: UnsafePointer<Int>? = nil
    ) {
        if let map { return readMapped(bytes, channelCount, frameCount, channels, offset, map) }
        if channelCount == 1, channels.count == 1 {
            switch self {
            case .int16: return readInt16(bytes, channels[0] + offset, frameCount)
            case .int32: return readInt32(bytes, channels[0] + offset, frameCount)
            default: return readMono(bytes, channels[0] + offset, frameCount)
            }
        }
        if channelCount == 2, channels.count == 2,
            readPair(bytes, channels[0] + offset, channels[1] + offset, frameCount)
        {
            return
        }
        readMapped(bytes, channelCount, frameCount, channels, offset, nil)
    }

    @_noLocks @inline(never)
    private func readMapped(
        _ bytes: UnsafeRawPointer, _ channelCount: Int, _ frameCount: Int, _ channels: Channels, _ offset: Int,
        _ map: UnsafePointer<Int>?
    ) {
        for c in 0..<channels.count {
            var source = c
            if let map { source = map[c] }
            let to = channels[c] + offset
            guard source >= 0, source < channelCount else {
                clearSamples(to, frameCount)
                continue
            }
            if channelCount == 1 {
                readMono(bytes, to, frameCount)
            } else {
                readChannel(bytes + source &* byteCount, channelCount &* byteCount, to, frameCount)
            }
        }
    }

    /// Converts planar samples to interleaved bytes: rounded and clamped to full scale; NaN becomes 0. Safe on the render thread.
    ///
    /// Floating-point types keep values above full scale; infinity becomes 0.
    /// - Parameters:
    ///   - channels: `frameCount` frames after `offset`.
    ///   - bytes: room for `frameCount` × `channelCount` samples, at any alignment.
    ///   - channelCount: the channels in the bytes, at least 1.
    ///   - map: for each channel of the bytes, the number of a channel in `channels`, from 0; silent if there is no such channel.
    ///     Nil for the same order.
    @_noLocks
    package func write(
        _ channels: Channels, offset: Int = 0, frameCount: Int, into bytes: UnsafeMutableRawPointer, channelCount: Int,
        map: UnsafePointer<Int>? = nil
    ) {
        if let map { return writeMapped(channels, offset, frameCount, bytes, channelCount, map) }
        if channelCount == 1, channels.count == 1 {
            if case .int16 = self { return writeInt16(channels[0] + offset, frameCount, bytes) }
            return writeMono(channels[0] + offset, frameCount, bytes)
        }
        if channelCount == 2, channels.count == 2,
            writePair(channels[0] + offset, channels[1] + offset, frameCount, bytes)
        {
            return
        }
        writeMapped(channels, offset, frameCount, bytes, channelCount, nil)
    }

    @_noLocks @inline(never)
    private func writeMapped(
        _ channels: Channels, _ offset: Int, _ frameCount: Int, _ bytes: UnsafeMutableRawPointer, _ channelCount: Int,
        _ map: UnsafePointer<Int>?
    ) {
        for d in 0..<channelCount {
            var source = d
            if let map { source = map[d] }
            guard source >= 0, source < channels.count else {
                clearChannel(bytes + d &* byteCount, channelCount &* byteCount, frameCount)
                continue
            }
            if channelCount == 1 {
                writeMono(channels[source] + offset, frameCount, bytes)
            } else {
                writeChannel(channels[source] + offset, frameCount, bytes + d &* byteCount, channelCount &* byteCount)
            }
        }
    }

    // Mono has its own functions: with a constant distance between samples the loop becomes vector code.
    @_noLocks @inline(never)
    private func readMono(_ from: UnsafeRawPointer, _ to: UnsafeMutablePointer<Float>, _ count: Int) {
        readChannel(from, byteCount, to, count)
    }

    @_noLocks @inline(never)
    private func writeMono(_ from: UnsafePointer<Float>, _ count: Int, _ to: UnsafeMutableRawPointer) {
        writeChannel(from, count, to, byteCount)
    }

    @_noLocks @inline(__always)
    private func readChannel(
        _ from: UnsafeRawPointer, _ stride: Int, _ to: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        switch self {
        case .uint8:
            for i in 0..<count {
                to[i] = Float(Int32(from.load(fromByteOffset: stride &* i, as: UInt8.self)) &- 128) * (1 / 128)
            }
        case .int16:
            for i in 0..<count {
                to[i] = Float(from.loadUnaligned(fromByteOffset: stride &* i, as: Int16.self)) * (1 / 32_768)
            }
        case .int24:
            for i in 0..<count {
                let at = from + stride &* i
                let low = UInt32(at.loadUnaligned(as: UInt16.self)) &<< 8
                let high = UInt32(at.load(fromByteOffset: 2, as: UInt8.self)) &<< 24
                to[i] = Float(Int32(bitPattern: low | high)) * (1 / 2_147_483_648)
            }
        case .int24In32:
            for i in 0..<count {
                let word = from.loadUnaligned(fromByteOffset: stride &* i, as: Int32.self)
                to[i] = Float(word &<< 8) * (1 / 2_147_483_648)
            }
        case .int32:
            for i in 0..<count {
                let word = from.loadUnaligned(fromByteOffset: stride &* i, as: Int32.self)
                to[i] = Float(word) * (1 / 2_147_483_648)
            }
        case .float32:
            for i in 0..<count {
                to[i] = finite(from.loadUnaligned(fromByteOffset: stride &* i, as: Float.self))
            }
        case .float64:
            for i in 0..<count {
                to[i] = finite(Float(from.loadUnaligned(fromByteOffset: stride &* i, as: Double.self)))
            }
        }
    }

    @_noLocks @inline(__always)
    private func writeChannel(
        _ from: UnsafePointer<Float>, _ count: Int, _ to: UnsafeMutableRawPointer, _ stride: Int
    ) {
        switch self {
        case .uint8:
            for i in 0..<count {
                let value = limited(from[i] * 128, 127) + 12_582_912
                to.storeBytes(
                    of: UInt8(truncatingIfNeeded: value.bitPattern &+ 128), toByteOffset: stride &* i, as: UInt8.self)
            }
        case .int16:
            for i in 0..<count {
                to.storeBytes(
                    of: UInt16(truncatingIfNeeded: integer16(from[i])), toByteOffset: stride &* i, as: UInt16.self)
            }
        case .int24:
            for i in 0..<count {
                let word = integer(from[i], 8_388_608)
                let at = to + stride &* i
                at.storeBytes(of: UInt16(truncatingIfNeeded: word), as: UInt16.self)
                at.storeBytes(of: UInt8(truncatingIfNeeded: word &>> 16), toByteOffset: 2, as: UInt8.self)
            }
        case .int24In32:
            for i in 0..<count {
                to.storeBytes(of: integer(from[i], 8_388_608), toByteOffset: stride &* i, as: UInt32.self)
            }
        case .int32:
            for i in 0..<count {
                to.storeBytes(of: integer(from[i], 2_147_483_648), toByteOffset: stride &* i, as: UInt32.self)
            }
        case .float32:
            for i in 0..<count { to.storeBytes(of: finite(from[i]), toByteOffset: stride &* i, as: Float.self) }
        case .float64:
            for i in 0..<count {
                to.storeBytes(of: Double(finite(from[i])), toByteOffset: stride &* i, as: Double.self)
            }
        }
    }

    @_noLocks
    private func clearChannel(_ to: UnsafeMutableRawPointer, _ stride: Int, _ count: Int) {
        var silence: UInt8 = 0
        if case .uint8 = self { silence = 128 }
        for i in 0..<count {
            for b in 0..<byteCount { to.storeBytes(of: silence, toByteOffset: stride &* i &+ b, as: UInt8.self) }
        }
    }
}

/// Returns a scaled sample within −(`top` + 1) to `top`; 0 for NaN.
@_noLocks @inline(__always)
func limited(_ scaled: Float, _ top: Float) -> Float {
    let value = scaled == scaled ? scaled : 0
    return value > -top - 1 ? (value < top ? value : top) : -top - 1
}

/// Returns a sample as a 16-bit integer in the lower 16 bits; the upper bits are undefined.
@_noLocks @inline(__always)
func integer16(_ sample: Float) -> UInt32 { (limited(sample * 32_768, 32_767) + 12_582_912).bitPattern }

/// Returns a sample times `scale` as a rounded and clamped integer in two's complement, sign-extended to 32 bits. Calculated in
/// Double, whose 53 bits are exact.
@_noLocks @inline(__always)
func integer(_ sample: Float, _ scale: Double) -> UInt32 {
    let scaled = sample == sample ? Double(sample) * scale : 0
    var value = scaled > -scale ? scaled : -scale
    value = value < scale - 1 ? value : scale - 1
    return UInt32(truncatingIfNeeded: (value + 6_755_399_441_055_744).bitPattern)
}

@_noLocks @inline(__always)
private func finite(_ sample: Float) -> Float {
    sample > -.infinity && sample < .infinity ? sample : 0
}
