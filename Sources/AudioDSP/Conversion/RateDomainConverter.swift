// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Joins two places of a graph that have different rates or channels, as ``Resampler/Quality/transparent`` does.
///
/// In each slice of time one side writes the input frames that fall into it and the other reads the output frames, each by
/// its own clock: after any slice the frames so far may be off their rate by one, on either side. The converter begins
/// with enough silence that it never starves then: the filter's half length and three input frames, and one output frame.
/// That is ``latency``, a whole number of output frames, from beginning to end. Equal rates have none, and need
/// whatever is read to have been written.
///
/// Mono goes to all channels, all go to mono as their average; otherwise each goes to its like, and what has none is silent.
/// Only the fewer channels are filtered. All but `init` is render-safe; one thread at a time.
package struct RateDomainConverter: ~Copyable {
    /// Output frames by which what is read lies behind what was written; a whole number.
    package let latency: Double
    /// Input frames that were missing when they were read: silence was put in, and all that follows comes so much later.
    package private(set) var starvedFrameCount = 0
    /// Input frames dropped because nothing was read and the buffer was full.
    package private(set) var droppedFrameCount = 0

    private var resampler: Resampler

    /// - Parameters:
    ///   - inputRate: in hertz.
    ///   - outputRate: in hertz.
    ///   - maximumFrameCount: frames of either side that a slice has at most. There is room for four such slices.
    package init(
        from inputRate: Double, to outputRate: Double, inputChannelCount: Int, outputChannelCount: Int,
        maximumFrameCount: Int = 4096
    ) {
        let step = inputRate / outputRate
        resampler = Resampler(
            from: inputRate, to: outputRate, channelCount: min(inputChannelCount, outputChannelCount),
            quality: .transparent, maximumFrameCount: 1,
            excess: 4 * maximumFrameCount + Int(100 * max(1, step)))
        let delay =
            inputRate == outputRate
            ? 0 : Int(((Double(resampler.halfLength) + 3) / step + 1).rounded(.up))
        latency = Double(delay)
        resampler.reset(delay: delay)
    }

    /// Frames that may be written now.
    package var room: Int { @_noLocks get { resampler.inputRoom } }

    /// Frames that may be read now.
    package var availableFrameCount: Int { @_noLocks get { resampler.outputAvailable(afterAdding: 0) } }

    /// Takes input.
    /// - Parameter channels: as many as `init` was told.
    @_noLocks
    package mutating func write(_ channels: Channels, offset: Int = 0, frameCount: Int) {
        let count = min(frameCount, resampler.inputRoom)
        if count < frameCount { droppedFrameCount = droppedFrameCount &+ (frameCount &- count) }
        mapChannels(channels, from: offset, to: resampler.input, at: resampler.inputOffset, frameCount: count)
        resampler.append(count)
    }

    /// Reads output; fills up with silence if there is too little input.
    /// - Parameter channels: as many as `init` was told.
    @_noLocks
    package mutating func read(_ channels: Channels, offset: Int = 0, frameCount: Int) {
        var done = 0
        while done < frameCount {
            let count = min(frameCount &- done, resampler.outputAvailable(afterAdding: 0))
            if count == 0 {
                starve(frameCount &- done)
            } else {
                resampler.render(channels, frameCount: count, offset: offset &+ done)
                done = done &+ count
            }
        }
        let filtered = resampler.input.count
        guard channels.count > filtered else { return }
        for c in filtered..<channels.count {
            if filtered == 1 {
                copySamples(channels[c] + offset, channels[0] + offset, frameCount)
            } else {
                clearSamples(channels[c] + offset, frameCount)
            }
        }
    }

    /// Silence as input, for as many of the frames wanted as there is room.
    @_noLocks
    private mutating func starve(_ frameCount: Int) {
        let count = min(resampler.inputNeeded(for: frameCount), resampler.inputRoom)
        for c in 0..<resampler.input.count { clearSamples(resampler.input[c] + resampler.inputOffset, count) }
        resampler.append(count)
        starvedFrameCount = starvedFrameCount &+ count
    }

    /// Begins anew, with the latency's silence. What was counted stays.
    @_noLocks
    package mutating func reset() { resampler.reset(delay: Int(latency)) }
}
