// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The conversion between two rate domains by a ``RateDomainConverter``. Both halves are steps of the one render thread.
struct ConversionState: ~Copyable {
    private var converter: RateDomainConverter
    /// Frames of silent input after which the output is silent too.
    private let memory: Int
    private var silentFrames: Int

    /// - Parameter slice: frames of either side that a slice has at most.
    init(from: AudioFormat, to: AudioFormat, slice: Int) {
        converter = RateDomainConverter(
            from: from.sampleRate, to: to.sampleRate, inputChannelCount: from.channelCount,
            outputChannelCount: to.channelCount, maximumFrameCount: slice)
        memory = 2 * Int((converter.latency + 1) * max(1, from.sampleRate / to.sampleRate)) + slice
        silentFrames = memory + 1
    }

    /// Frames of delay at the output's rate.
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

    /// In the source's domain.
    @_noLocks
    mutating func write(_ call: RenderCall) {
        silentFrames = call.inputs[0].isSilent ? silentFrames &+ call.frameCount : 0
        converter.write(call.inputs[0].channels, frameCount: call.frameCount)
    }

    /// In the destination's domain.
    @_noLocks
    mutating func read(_ call: RenderCall) {
        let to = call.outputs[0]
        to.isSilent = false
        converter.read(to.channels, frameCount: call.frameCount)
        if silentFrames > memory { to.silence(call.frameCount) }
    }
}
