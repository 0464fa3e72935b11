// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotVoiceProcessing

/// The local voice's processing from capture to the ring, on the render thread: voice processing, then effects.
///
/// ``CallVoice`` creates the path and owns its memory.
struct VoicePath {
    let processing: VoiceProcessingPort?
    let effects: RenderCallback?
    /// The memory of the effects' output, with the call's channels.
    let effectOutput: Channels?

    /// Returns true if ``process(_:_:frameCount:)`` uses the cycle's output.
    @_noLocks
    func needsReference() -> Bool { processing?.needsReference() ?? false }

    /// Processes a block in place, without effects.
    /// - Parameter cycle: the device's cycle, for its clock and its output.
    @_noLocks
    func process(_ block: Channels, _ cycle: IOCycle, frameCount: Int) {
        processing?.process(block, reference: cycle.output, frameCount: frameCount)
    }

    /// Adds the effects to a processed block in place.
    @_noLocks
    func addEffects(to block: Channels, _ cycle: IOCycle, frameCount: Int) {
        guard let effects, let effectOutput else { return }
        for c in 0..<effectOutput.count { clearSamples(effectOutput[c], frameCount) }
        var inner = cycle
        inner.frameCount = frameCount
        inner.input = block
        inner.output = effectOutput
        effects(&inner)
        for c in 0..<block.count { copySamples(block[c], effectOutput[c], frameCount) }
    }
}
