// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The effects of the local voice, on the render thread. ``CallVoice`` owns their memory.
struct VoiceEffects {
    let callback: RenderCallback
    /// The memory of the output, with the call's channels.
    let output: Channels

    /// Processes a block in place.
    /// - Parameter cycle: the device's cycle, for its clock.
    @_noLocks
    func process(_ block: Channels, _ cycle: IOCycle, frameCount: Int) {
        for c in 0..<output.count { clearSamples(output[c], frameCount) }
        var inner = cycle
        inner.frameCount = frameCount
        inner.input = block
        inner.output = output
        callback(&inner)
        for c in 0..<block.count { copySamples(block[c], output[c], frameCount) }
    }
}
