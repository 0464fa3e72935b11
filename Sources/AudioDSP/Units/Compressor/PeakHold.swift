// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// The maximum of the last few milliseconds. A steady low tone thus has a steady level, which does not fall between the tone's
/// half waves.
///
/// The frames are divided into buckets. The maxima of three complete buckets and of the one being filled are kept, so the memory
/// is between three and four buckets long.
struct PeakHold: BitwiseCopyable {
    /// The maximum in the memory, 0 after silence.
    private(set) var value: Float = 0
    private var current: Float = 0  // the maximum of the bucket being filled
    private var first: Float = 0  // the maxima of the complete buckets, the newest first
    private var second: Float = 0
    private var third: Float = 0
    private var filledCount = 0  // frames in the bucket being filled
    private let length: Int  // frames of a bucket

    /// - Parameters:
    ///   - seconds: the minimum time for which a peak is held; up to a third more.
    ///   - sampleRate: in hertz.
    init(seconds: Double, sampleRate: Double) { length = max(2, Int(seconds * sampleRate / 3) + 1) }

    /// The frames after which a peak is certainly forgotten.
    var frames: Int { 4 * length }

    /// Adds a frame's magnitude. Returns the maximum, including this frame.
    @_noLocks @inline(__always)
    mutating func next(_ magnitude: Float) -> Float {
        if magnitude > current {
            current = magnitude
            if magnitude > value { value = magnitude }
        }
        if value == 0 {  // after silence the first bucket begins again, as in a new value
            filledCount = 0
            return 0
        }
        filledCount &+= 1
        if filledCount == length { startBucket() }
        return value
    }

    @_noLocks
    private mutating func startBucket() {
        filledCount = 0
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
        filledCount = 0
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

/// Returns the factor by which a value decays in a frame, for a time constant of τ seconds: exp(−1 / (τ · rate)); 0 for τ = 0.
@_noLocks
func smoothing(seconds: Float, sampleRate: Double) -> Double {
    seconds > 0 ? earshot_exp(-1 / (Double(seconds) * sampleRate)) : 0
}
