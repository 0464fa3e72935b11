// SPDX-License-Identifier: Apache-2.0

/// Returns the logarithm to base 2 of a positive, normal number, within 2e-7.
///
/// The mantissa m is scaled to √½…√2; then ln m = 2 artanh((m − 1) / (m + 1)), by its power series.
@_noLocks @inline(__always)
func fastLog2(_ x: Float) -> Float {
    let bits = x.bitPattern
    var exponent = Int32(bits >> 23) &- 127
    var m = Float(bitPattern: bits & 0x007F_FFFF | 0x3F80_0000)
    if m > 1.414_213_6 {
        m *= 0.5
        exponent &+= 1
    }
    let s = (m - 1) / (m + 1)
    let q = s * s
    let series = s * (2.885_390_1 + q * (0.961_796_7 + q * (0.577_078_0 + q * 0.412_198_6)))
    return Float(exponent) + series
}
