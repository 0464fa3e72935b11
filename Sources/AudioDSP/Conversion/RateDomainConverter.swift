// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Joins two parts of a graph with different rates or channels, with ``Resampler/Quality/transparent``.
///
/// In each slice of time one side writes the slice's input frames and the other side reads its output frames. Each side counts by
/// its own clock, so that either count may be one frame off. The converter starts with enough silence to never underrun then: the
/// filter's half length, three input frames and one output frame. The length of this silence is ``latency``, a constant whole
/// number of output frames. At equal rates it is 0, and frames must be written before they are read.
///
/// Mono goes to all channels, all channels to mono as their mean; otherwise channels map one to one, and output channels without
/// an input channel are silent. Only the smaller number of channels is filtered. Everything except `init` is safe on the render
/// thread; for one thread at a time.
package struct RateDomainConverter: ~Copyable {
    /// The delay from input to output in output frames; a whole number.
    package let latency: Double
    /// The input frames that were missing when output was read. Silence replaced them, and delays all later frames.
    package private(set) var starvedFrameCount = 0
    /// The input frames that were dropped because the buffer was full.
    package private(set) var droppedFrameCount = 0

    private var resampler: Resampler

    /// - Parameters:
    ///   - inputRate: in hertz.
    ///   - outputRate: in hertz.
    ///   - maximumFrameCount: the maximum frames of a slice on either side. There is room for four such slices.
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

    /// The input frames that can be written.
    package var room: Int { @_noLocks get { resampler.inputRoom } }

    /// The output frames that can be read.
    package var availableFrameCount: Int { @_noLocks get { resampler.outputAvailable(afterAdding: 0) } }

    /// Writes a block of input. Frames for which there is no room are dropped and counted.
    /// - Parameter channels: the channels given to `init`.
    @_noLocks
    package mutating func write(_ channels: Channels, offset: Int = 0, frameCount: Int) {
        let count = min(frameCount, resampler.inputRoom)
        if count < frameCount { droppedFrameCount = droppedFrameCount &+ (frameCount &- count) }
        mapChannels(channels, from: offset, to: resampler.input, at: resampler.inputOffset, frameCount: count)
        resampler.append(count)
    }

    /// Reads output, with silence if there is too little input.
    /// - Parameter channels: the channels given to `init`.
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
        let filteredChannelCount = resampler.input.count
        guard channels.count > filteredChannelCount else { return }
        for c in filteredChannelCount..<channels.count {
            if filteredChannelCount == 1 {
                copySamples(channels[c] + offset, channels[0] + offset, frameCount)
            } else {
                clearSamples(channels[c] + offset, frameCount)
            }
        }
    }

    /// Writes silence instead of the input missing for `frameCount` output frames, as far as there is room.
    @_noLocks
    private mutating func starve(_ frameCount: Int) {
        let count = min(resampler.inputNeeded(for: frameCount), resampler.inputRoom)
        for c in 0..<resampler.input.count { clearSamples(resampler.input[c] + resampler.inputOffset, count) }
        resampler.append(count)
        starvedFrameCount = starvedFrameCount &+ count
    }

    /// Discards all input, and starts again with silence for the ``latency``. The counts of lost frames stay.
    @_noLocks
    package mutating func reset() { resampler.reset(delay: Int(latency)) }
}
