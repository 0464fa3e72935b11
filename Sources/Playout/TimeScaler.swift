// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP

/// Decoded sound that waits for the resampler, with the last 21 ms before it, in which periods can be removed or repeated.
///
/// A splice removes, or repeats, a stretch after which the sound is most similar to its continuation: one period of a voice, by
/// the greatest normalized correlation, with a crossfade of 4 ms (W. Verhelst and M. Roelands, "An overlap-add technique based on
/// waveform similarity", 1993, one piece at a time). In silence any stretch is suitable. Everything except `init` is safe on the
/// render thread.
struct TimeScaler: ~Copyable {
    /// The memory of the sound; new frames are written from the index ``end`` on.
    let channels: Channels
    /// The frames that are decoded and not yet read.
    var lead: Int { @_noLocks get { end &- start } }
    /// The index in ``channels`` after the last decoded frame.
    private(set) var end: Int
    /// The frames of the shortest stretch.
    let shortest: Int
    /// The frames of the longest stretch.
    let longest: Int
    /// The frames of a crossfade.
    let fade: Int

    var start: Int  // the index in `channels` of the next frame to be read
    let context: Int  // frames before the joint that must match as well
    let factor: Int  // the frames added up to one for the first search
    let mono: UnsafeMutablePointer<Float>  // the sum of the channels
    let coarse: UnsafeMutablePointer<Float>  // `mono` at a lower rate, for the first search
    private let buffer: AudioBuffer
    private let historyFrames: Int  // kept before `start`
    private let capacity: Int

    /// - Parameter maximumFrameCount: the maximum frames of a read.
    init(sampleRate: Double, channelCount: Int, maximumFrameCount: Int) {
        shortest = max(8, Int(0.0025 * sampleRate))
        longest = max(16, Int(0.015 * sampleRate))
        fade = max(8, Int(0.004 * sampleRate)) & ~7
        context = max(8, Int(0.006 * sampleRate)) & ~7
        factor = max(1, Int(sampleRate / 12_000))
        historyFrames = longest + context + 16
        capacity = 2 * historyFrames + maximumFrameCount + 4 * longest + 4_096
        buffer = AudioBuffer(channelCount: channelCount, frameCapacity: capacity)
        channels = buffer.channels
        let region = longest + context + fade + 64
        mono = .allocate(capacity: 2 * region)
        mono.initialize(repeating: 0, count: 2 * region)
        coarse = mono + region
        start = historyFrames
        end = historyFrames
    }

    deinit { mono.deallocate() }

    /// Makes room for `frameCount` frames after the present ones.
    @_noLocks
    mutating func reserve(_ frameCount: Int) {
        let droppedFrames = start &- historyFrames
        guard end &+ frameCount > capacity, droppedFrames > 0 else { return }
        for c in 0..<channels.count { moveSamples(channels[c], channels[c] + droppedFrames, end &- droppedFrames) }
        start &-= droppedFrames
        end &-= droppedFrames
    }

    /// Adds frames that were written at ``end``.
    @_noLocks
    mutating func append(_ frameCount: Int) { end &+= frameCount }

    /// Reads the oldest frames that wait. - Precondition: at least `frameCount` frames wait.
    @_noLocks
    mutating func read(_ output: Channels, offset: Int, frameCount: Int) {
        for c in 0..<channels.count { copySamples(output[c] + offset, channels[c] + start, frameCount) }
        start &+= frameCount
    }

    /// Removes a stretch of `shortest ... limit` frames from the waiting sound.
    /// - Parameter similarity: the required correlation, -1 to 1.
    /// - Returns: the frames removed; 0 if nothing is similar enough, or too little waits.
    @_noLocks
    mutating func shorten(by limit: Int, similarity: Float) -> Int {
        let most = min(min(limit, longest), lead &- fade)
        guard most >= shortest else { return 0 }
        let count = stretch(from: start &- context, to: start &+ fade &+ most, forward: true, most, similarity)
        guard count > 0 else { return 0 }
        blend(from: start, to: start &+ count, fade)
        start &+= count
        return count
    }

    /// Repeats the last `shortest ... limit` frames; 4 ms must wait to be crossfaded with them.
    /// - Returns: the frames added; 0 if nothing is similar enough, or too little waits.
    @_noLocks
    mutating func lengthen(by limit: Int, similarity: Float) -> Int {
        let most = min(limit, longest)
        guard most >= shortest, lead >= fade, start >= most &+ context else { return 0 }
        let count = stretch(from: start &- most &- context, to: start &+ fade, forward: false, most, similarity)
        guard count > 0 else { return 0 }
        blend(from: start, to: start &- count, min(fade, count))
        start &-= count
        return count
    }

    /// Crossfades `count` frames in place at `to`: from the sound that is at `from` to the sound that was at `to`.
    @_noLocks
    private func blend(from: Int, to: Int, _ count: Int) {
        for c in 0..<channels.count {
            let old = channels[c] + from
            let new = channels[c] + to
            for i in 0..<count {
                let weight = smoothStep((Float(i) + 0.5) / Float(count))
                new[i] = old[i] + (new[i] - old[i]) * weight
            }
        }
    }
}
