// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Decoded sound that waits for the resampler, with the last 21 ms before it, in which periods can be removed or repeated.
///
/// A splice removes, or repeats, a stretch after which the sound is most similar to its continuation: one period of a voice, by
/// the greatest normalized correlation, with a crossfade of 4 ms (W. Verhelst and M. Roelands, "An overlap-add technique based on
/// waveform similarity", 1993, one piece at a time). In silence any stretch is suitable. Everything except `init` is safe on the
/// render thread.
struct TimeScaler: ~Copyable {
    /// The buffer, written from ``end`` on.
    let channels: Channels
    /// The frames decoded and not yet read.
    var lead: Int { @_noLocks get { end &- start } }
    /// The first free frame.
    private(set) var end: Int
    /// The frames of the shortest and of the longest stretch.
    let shortest: Int
    let longest: Int
    /// The frames of a crossfade.
    let fade: Int

    var start: Int  // the next frame to be read
    let context: Int  // frames before the joint that must match as well
    let factor: Int  // frames put together for the first search
    let mono: UnsafeMutablePointer<Float>
    let coarse: UnsafeMutablePointer<Float>
    private let buffer: AudioBuffer
    private let history: Int
    private let capacity: Int

    /// - Parameter maximumFrameCount: the maximum frames of a read.
    init(sampleRate: Double, channelCount: Int, maximumFrameCount: Int) {
        shortest = max(8, Int(0.0025 * sampleRate))
        longest = max(16, Int(0.015 * sampleRate))
        fade = max(8, Int(0.004 * sampleRate)) & ~7
        context = max(8, Int(0.006 * sampleRate)) & ~7
        factor = max(1, Int(sampleRate / 12_000))
        history = longest + context + 16
        capacity = 2 * history + maximumFrameCount + 4 * longest + 4_096
        buffer = AudioBuffer(channelCount: channelCount, frameCapacity: capacity)
        channels = buffer.channels
        let region = longest + context + fade + 64
        mono = .allocate(capacity: 2 * region)
        mono.initialize(repeating: 0, count: 2 * region)
        coarse = mono + region
        start = history
        end = history
    }

    deinit { mono.deallocate() }

    /// Makes room for `frameCount` frames after the present ones.
    @_noLocks
    mutating func reserve(_ frameCount: Int) {
        let kept = start &- history
        guard end &+ frameCount > capacity, kept > 0 else { return }
        for c in 0..<channels.count { moveSamples(channels[c], channels[c] + kept, end &- kept) }
        start &-= kept
        end &-= kept
    }

    /// Adds frames that were written at ``end``.
    @_noLocks
    mutating func append(_ frameCount: Int) { end &+= frameCount }

    /// Reads the oldest frames. - Precondition: this many are stored.
    @_noLocks
    mutating func read(_ output: Channels, offset: Int, frameCount: Int) {
        for c in 0..<channels.count { copySamples(output[c] + offset, channels[c] + start, frameCount) }
        start &+= frameCount
    }

    /// Removes a stretch of `shortest ... limit` frames from the waiting sound.
    /// - Parameter similarity: the required correlation, 0 to 1.
    /// - Returns: its frames; 0 if nothing is similar enough, or too little waits.
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

    /// Crossfades in place: at `to` begins the sound at `from`, and after `count` frames follows the sound at `to`.
    @_noLocks
    private func blend(from: Int, to: Int, _ count: Int) {
        for c in 0..<channels.count {
            let old = channels[c] + from
            let new = channels[c] + to
            for i in 0..<count {
                let x = (Float(i) + 0.5) / Float(count)
                let weight = x * x * (3 - 2 * x)
                new[i] = old[i] + (new[i] - old[i]) * weight
            }
        }
    }
}
