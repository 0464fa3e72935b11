// SPDX-License-Identifier: Apache-2.0

/// Loads four samples from an unaligned address.
@_noLocks @inline(__always)
func load4(_ p: UnsafePointer<Float>) -> SIMD4<Float> { SIMD4(p[0], p[1], p[2], p[3]) }

/// Stores four samples to an unaligned address.
@_noLocks @inline(__always)
func store4(_ v: SIMD4<Float>, _ p: UnsafeMutablePointer<Float>) {
    p[0] = v[0]
    p[1] = v[1]
    p[2] = v[2]
    p[3] = v[3]
}
