// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// The maximum of the last few milliseconds, so that a steady low tone has a steady level, which does not fall between its half
/// waves.
///
/// Four buckets follow each other, of which one is being filled: the memory is between three and four buckets long.
struct PeakHold: BitwiseCopyable {
    /// The maximum.
    private(set) var value: Float = 0
    private var current: Float = 0
    private var first: Float = 0
    private var second: Float = 0
    private var third: Float = 0
    private var filled = 0
    private let length: Int

    /// - Parameters:
    ///   - seconds: the minimum time for which a peak is held; up to a third more.
    ///   - sampleRate: in hertz.
    init(seconds: Double, sampleRate: Double) { length = max(2, Int(seconds * sampleRate / 3) + 1) }

    /// The frames after which a peak is certainly forgotten.
    var frames: Int { 4 * length }

    /// Adds a frame. Returns the maximum with it.
    @_noLocks @inline(__always)
    mutating func next(_ magnitude: Float) -> Float {
        if magnitude > current {
            current = magnitude
            if magnitude > value { value = magnitude }
        }
        if value == 0 {  // after silence it begins anew, as one newly made does
            filled = 0
            return 0
        }
        filled &+= 1
        if filled == length { turn() }
        return value
    }

    @_noLocks
    private mutating func turn() {
        filled = 0
        third = second
        second = first
        first = current
        current = 0
        let a = first > second ? first : second
        value = a > third ? a : third
    }

    /// Resets to silence.
    @_noLocks
    mutating func reset() {
        value = 0
        current = 0
        first = 0
        second = 0
        third = 0
        filled = 0
    }
}

/// Returns the greatest magnitude of a frame over all channels.
@_noLocks @inline(__always)
func greatestMagnitude(_ pointers: UnsafePointer<UnsafeMutablePointer<Float>>, _ count: Int, at frame: Int) -> Float {
    var top: Float = 0
    for c in 0..<count {
        let x = pointers[c][frame]
        let magnitude = x < 0 ? -x : x
        top = magnitude > top ? magnitude : top
    }
    return top
}

/// Returns the share that remains after a frame of an exponential with a time constant: exp(−1 / (τ · rate)). 0 for a constant of
/// 0.
@_noLocks
func smoothing(seconds: Float, sampleRate: Double) -> Double {
    seconds > 0 ? earshot_exp(-1 / (Double(seconds) * sampleRate)) : 0
}
