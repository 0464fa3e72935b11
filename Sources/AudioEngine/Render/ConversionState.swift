// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The conversion between two rate domains by a ``RateDomainConverter``. Both halves are steps of the render thread.
struct ConversionState: ~Copyable {
    private var converter: RateDomainConverter
    /// The frames of silent input after which the output is silent.
    private let memory: Int
    private var silentFrames: Int

    /// - Parameter slice: the maximum frames of a slice on either side.
    init(from: AudioFormat, to: AudioFormat, slice: Int) {
        converter = RateDomainConverter(
            from: from.sampleRate, to: to.sampleRate, inputChannelCount: from.channelCount,
            outputChannelCount: to.channelCount, maximumFrameCount: slice)
        memory = 2 * Int((converter.latency + 1) * max(1, from.sampleRate / to.sampleRate)) + slice
        silentFrames = memory + 1
    }

    /// The delay in frames at the output's rate.
    var latency: Double { converter.latency }

    static var write: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: ConversionState.self).pointee.write(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }
    static var read: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: ConversionState.self).pointee.read(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    /// Writes in the source's domain.
    @_noLocks
    mutating func write(_ call: RenderCall) {
        silentFrames = call.inputs[0].isSilent ? silentFrames &+ call.frameCount : 0
        converter.write(call.inputs[0].channels, frameCount: call.frameCount)
    }

    /// Reads in the destination's domain.
    @_noLocks
    mutating func read(_ call: RenderCall) {
        let to = call.outputs[0]
        to.isSilent = false
        converter.read(to.channels, frameCount: call.frameCount)
        if silentFrames > memory { to.silence(call.frameCount) }
    }
}
