// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Adds the local voice to the local playback, so that the participant hears itself. For the render thread of a device with both
/// directions.
///
/// The voice is that of the same cycle, after effects and insert, before mute. While the monitor is off, the playback is not
/// changed.
struct VoiceMonitor: ~Copyable {
    private let isWanted: UnsafeMutablePointer<Atomic<Bool>>
    private let voice: Channels  // the cycle's
    private var hasVoice = false
    private var delay: MonitorDelay
    private var ramp: GainRamp
    private var limiter: PeakLimiter

    init(
        _ isWanted: UnsafeMutablePointer<Atomic<Bool>>, voice: Channels, delay: consuming MonitorDelay,
        sampleRate: Double
    ) {
        self.isWanted = isWanted
        self.voice = voice
        self.delay = delay
        ramp = GainRamp(0, sampleRate: sampleRate, seconds: 0.01)
        limiter = PeakLimiter(sampleRate: sampleRate)
    }

    /// Copies the voice of this cycle, if the monitor is heard.
    @_noLocks
    mutating func copyVoice(_ block: Channels, _ frameCount: Int) {
        hasVoice = false
        guard frameCount > 0 else { return }
        ramp.begin(isWanted.pointee.load(ordering: .relaxed) ? 1 : 0, frameCount)
        if ramp.isSilent { return delay.reset() }
        for c in 0..<voice.count { copySamples(voice[c], block[c], frameCount) }
        delay.process(voice, frameCount)
        hasVoice = true
    }

    /// Adds the copied voice to a mix, and limits the sum to full scale. Returns false if the mix is unchanged.
    @_noLocks
    mutating func add(to mix: Channels, _ frameCount: Int) -> Bool {
        // The limiter still recovers for half a second after the voice.
        guard frameCount > 0, hasVoice || !limiter.isUnity else { return false }
        if hasVoice { ramp.add(voice, to: mix, frameCount) }
        limiter.process(mix, frameCount)
        return true
    }
}
