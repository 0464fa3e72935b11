// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// The greatest of the last few milliseconds: so that a steady low tone is a steady level, not one that falls between its
/// half waves.
///
/// Four buckets follow each other, of which one is being filled: what is held is between three and four buckets old.
struct PeakHold: BitwiseCopyable {
    /// The greatest of what is held.
    private(set) var value: Float = 0
    private var current: Float = 0
    private var first: Float = 0
    private var second: Float = 0
    private var third: Float = 0
    private var filled = 0
    private let length: Int

    /// - Parameters:
    ///   - seconds: how long a peak is held at least; up to a third more.
    ///   - sampleRate: hertz.
    init(seconds: Double, sampleRate: Double) { length = max(2, Int(seconds * sampleRate / 3) + 1) }

    /// Frames after which a peak is forgotten for certain.
    var frames: Int { 4 * length }

    /// One frame on; returns the greatest magnitude held, this one included.
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

    /// Silence.
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

/// The greatest magnitude of one frame over all channels.
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

/// Returns the share that remains after one frame of an approach with a time constant: exp(−1 / (τ · rate)). 0 for a constant of 0.
@_noLocks
func smoothing(seconds: Float, sampleRate: Double) -> Double {
    seconds > 0 ? earshot_exp(-1 / (Double(seconds) * sampleRate)) : 0
}
