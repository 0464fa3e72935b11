/// The logarithm to base 2 of a positive, normal number, within 2e-7.
///
/// The mantissa m is brought between √½ and √2; then ln m = 2 artanh((m − 1) / (m + 1)), by its power series.
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

/// 2 to the power of a number, within 3e-7 of the result; the number is taken to be from −126 to 126.
///
/// The power series of exp(f · ln 2) for the fraction f, at most ½ in magnitude; 2^0 is exactly 1.
@_noLocks @inline(__always)
func fastExp2(_ x: Float) -> Float {
    let bounded = x < -126 ? -126 : x > 126 ? 126 : x
    let whole = Int32(bounded + 1_024.5) &- 1_024
    let f = bounded - Float(whole)
    let high = 0.009_618_129 + f * (0.001_333_355_8 + f * 0.000_154_035_3)
    let series = 1 + f * (0.693_147_2 + f * (0.240_226_5 + f * (0.055_504_11 + f * high)))
    return series * Float(bitPattern: UInt32(bitPattern: (whole &+ 127) << 23))
}
