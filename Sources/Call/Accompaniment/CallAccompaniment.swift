// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// A song that is played with a call, from the thread that reads its files to the render threads.
///
/// The frames are at the call's rate, with the call's channels. They are added to the playback after the mix of all voices, and
/// if ``isForAll`` is true, to the sent voice after mute. All changes fade over 5 ms. Members are for one thread, not a render
/// thread.
package final class CallAccompaniment: Sendable {
    /// The channels of the call.
    package let channelCount: Int
    /// The call's rate in hertz.
    package let sampleRate: Double
    let playbackInsert: CallInsert
    let captureInsert: CallInsert
    private let memory: AccompanimentMemory
    private let written = Atomic(0)
    private var values: UnsafeMutablePointer<AccompanimentMemory.Values> { memory.controls.values }

    package init(channelCount: Int, sampleRate: Double, hasSeparateMicrophone: Bool = false) {
        self.channelCount = channelCount
        self.sampleRate = sampleRate
        memory = AccompanimentMemory(
            channelCount: channelCount, sampleRate: sampleRate, hasSeparateMicrophone: hasSeparateMicrophone)
        playbackInsert = CallInsert(callback: memory.playingCallback, owner: memory)
        captureInsert = CallInsert(callback: memory.sendingCallback, owner: memory)
    }

    /// True to play the song, false to pause it.
    package var isPlaying: Bool {
        get { values.pointee.isPlaying.load(ordering: .relaxed) }
        set { values.pointee.isPlaying.store(newValue, ordering: .relaxed) }
    }

    /// True if all participants hear the song, false if only the local one does.
    package var isForAll: Bool {
        get { values.pointee.isForAll.load(ordering: .relaxed) }
        set { values.pointee.isForAll.store(newValue, ordering: .relaxed) }
    }

    /// The gain of the song, a factor.
    package var gain: Float {
        get { Float(bitPattern: values.pointee.gain.load(ordering: .relaxed)) }
        set { values.pointee.gain.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// The maximum number of frames that are written but not played yet.
    package var capacity: Int { memory.ring.capacity }

    /// The frames that can be written now.
    package var room: Int { memory.ring.capacity - memory.ring.writer.heldFrames }

    /// The frames written so far, counted as ``clock`` counts the played ones.
    package var writtenCount: Int { written.load(ordering: .relaxed) }

    /// The position of the playback.
    package var clock: AccompanimentClock { memory.clock.load() }

    /// The number of times that the song fell silent because frames were missing.
    package var underrunCount: Int { values.pointee.underrunCount.load(ordering: .relaxed) }

    /// Writes frames, at most ``room``.
    package func write(_ channels: Channels, frameCount: Int) {
        precondition(frameCount <= room)
        values.pointee.soundEnd.store(-1, ordering: .relaxed)
        memory.ring.writer.write(channels, frameCount: frameCount)
        written.add(frameCount, ordering: .relaxed)
    }

    /// Ends the sound after the frames written so far, until more are written.
    package func endSound() { values.pointee.soundEnd.store(writtenCount, ordering: .releasing) }

    /// Drops the frames that are written but not played yet, after a fade.
    package func discard() { values.pointee.discardEnd.store(writtenCount, ordering: .releasing) }

    /// Sets the latency of the voice path in seconds, without the latency of the microphone.
    func setVoiceLatency(_ seconds: Double) {
        values.pointee.voiceDelay.store(Int(max(0, min(1, seconds)) * sampleRate + 0.5), ordering: .relaxed)
    }
}
