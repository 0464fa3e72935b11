// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Converts a connection from one format to another by a ``RateDomainConverter``. The render thread runs it as two steps: one
/// writes in the source's rate domain, one reads in the destination's.
struct ConversionState: ~Copyable {
    private var converter: RateDomainConverter
    /// The frames of silent input after which the output is silent.
    private let silenceFrameLimit: Int
    private var silentFrames: Int

    /// - Parameter slice: the maximum frames of a slice in either rate domain.
    init(from: AudioFormat, to: AudioFormat, slice: Int) {
        converter = RateDomainConverter(
            from: from.sampleRate, to: to.sampleRate, inputChannelCount: from.channelCount,
            outputChannelCount: to.channelCount, maximumFrameCount: slice)
        silenceFrameLimit = 2 * Int((converter.latency + 1) * max(1, from.sampleRate / to.sampleRate)) + slice
        silentFrames = silenceFrameLimit + 1
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

    /// Takes the input of a slice, in the source's rate domain.
    @_noLocks
    mutating func write(_ call: RenderCall) {
        silentFrames = call.inputs[0].isSilent ? silentFrames &+ call.frameCount : 0
        converter.write(call.inputs[0].channels, frameCount: call.frameCount)
    }

    /// Outputs a slice, in the destination's rate domain.
    @_noLocks
    mutating func read(_ call: RenderCall) {
        let to = call.outputs[0]
        to.isSilent = false
        converter.read(to.channels, frameCount: call.frameCount)
        if silentFrames > silenceFrameLimit { to.silence(call.frameCount) }
    }
}
