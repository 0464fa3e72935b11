// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The delay of a ``VoiceProcessingPort`` after a change of the device.
extension VoiceProcessingPort {
    /// Tells the port that the next block is the first of another device, whose blocks may be shorter.
    @_noLocks
    package func noteRouteChange() { state.pointee.isAfterRouteChange = true }

    /// Lengthens the delay for a block that is longer than all before it, and fits it to the first block of another device. The
    /// sound of the earlier device ends there: it would come late.
    @_noLocks
    func adaptDelay(_ frameCount: Int) {
        let isAfterRouteChange = state.pointee.isAfterRouteChange
        state.pointee.isAfterRouteChange = false
        guard frameCount > state.pointee.margin || isAfterRouteChange else { return }
        // A sample rate converter may return some frames more in later blocks.
        let needed = (frameCount &+ 31) & ~15
        let margin = needed < minimumMargin ? minimumMargin : needed
        let change = margin &- state.pointee.margin
        state.pointee.margin = margin
        let isReady = state.pointee.sinceOn >= state.pointee.latency
        state.pointee.latency = state.pointee.latency &+ change
        if isReady { state.pointee.sinceOn = state.pointee.latency }
        shared.pointee.latency.store(state.pointee.latency, ordering: .relaxed)
        state.pointee.owed = state.pointee.owed &- change
        state.pointee.planned = max(0, min(state.pointee.planned &+ change, 0 &- state.pointee.owed))
        state.pointee.sinceDelayChange = 0
        state.pointee.tail = isAfterRouteChange ? 0 : state.pointee.last
    }

    /// Silences processed sound until the latency has passed since the last change of the delay, and then fades it in. The last
    /// sample before the change falls to 0 in the same time, so that neither clicks.
    @_noLocks
    func fadeAfterDelayChange(_ samples: UnsafeMutablePointer<Float>, _ frameCount: Int) {
        guard frameCount > 0 else { return }
        let (start, latency) = (state.pointee.sinceDelayChange, state.pointee.latency)
        if start < latency &+ Self.fadeLength {
            for i in 0..<frameCount {
                let frame = start &+ i
                let gain = Float((frame < latency ? frame : frame &- latency) &+ 1) * fadeStep
                if gain < 1 {
                    samples[i] = frame < latency ? state.pointee.tail * (1 - gain) : samples[i] * gain
                } else if frame < latency {
                    samples[i] = 0
                }
            }
            state.pointee.sinceDelayChange = start &+ frameCount
        }
        state.pointee.last = samples[frameCount &- 1]
    }
}
