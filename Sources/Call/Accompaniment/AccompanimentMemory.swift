// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The memory of a song that the render threads share with the song's thread. The inserts retain it while they are rendered.
final class AccompanimentMemory: Sendable {
    let ring: AudioRing
    let clock = LatestValue(AccompanimentClock(hostTime: HostTime(nanoseconds: 0)))
    let controls: Controls
    private let played: PlayedSong
    private let playedTime = LatestValue(
        PlayedTime(sampleTime: 0, hostTime: HostTime(nanoseconds: 0), outputLatency: 0))
    private let states: States
    private let buffers: [AudioBuffer]

    /// The values that the song's thread sets and the render threads read.
    struct Values: ~Copyable {
        let isPlaying = Atomic(false)
        let isForAll = Atomic(false)
        /// The gain, as the bits of a Float.
        let gain = Atomic<UInt32>(Float(1).bitPattern)
        /// The frame up to which the ring's frames are dropped, counted from the first frame ever written.
        let discardEnd = Atomic(0)
        /// The number of written frames after which the sound ends; -1 if more follow.
        let soundEnd = Atomic(-1)
        /// The latency in frames of voice processing, effects and insert.
        let voiceDelay = Atomic(0)
        /// The number of underruns of the ring. Written by the playing render thread.
        let underrunCount = Atomic(0)
    }
    struct Controls: @unchecked Sendable { let values: UnsafeMutablePointer<Values> }  // points to atomics

    private struct States: @unchecked Sendable {  // each state has one render thread
        let playing: UnsafeMutablePointer<PlayingAccompaniment>
        let sending: UnsafeMutablePointer<SendingAccompaniment>
    }

    init(channelCount: Int, sampleRate: Double, hasSeparateMicrophone: Bool) {
        // A second ahead; more at low rates, for the longest block.
        ring = AudioRing(channelCount: channelCount, capacity: max(Int(sampleRate), 4 * IOCycle.maximumFrameCount))
        controls = Controls(values: .allocate(capacity: 1))
        controls.values.initialize(to: Values())
        // A second covers the delay of a Bluetooth headset.
        played = PlayedSong(
            channelCount: channelCount, depth: max(Int(sampleRate), 4 * IOCycle.maximumFrameCount))
        buffers = (0..<3).map { _ in
            AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        }
        states = States(playing: .allocate(capacity: 1), sending: .allocate(capacity: 1))
        states.playing.initialize(
            to: PlayingAccompaniment(
                ring: ring.reader, values: controls.values, clock: clock.writer, played: played,
                playedTime: playedTime.writer, block: buffers[0].channels, sampleRate: sampleRate))
        states.sending.initialize(
            to: SendingAccompaniment(
                values: controls.values, played: played, playedTime: playedTime.reader,
                blocks: (buffers[1].channels, buffers[2].channels), sampleRate: sampleRate,
                hasSeparateMicrophone: hasSeparateMicrophone))
    }

    deinit {
        states.playing.deinitialize(count: 1)
        states.playing.deallocate()
        states.sending.deinitialize(count: 1)
        states.sending.deallocate()
        controls.values.deinitialize(count: 1)
        controls.values.deallocate()
        played.deallocate()
    }

    /// Adds the song to a block of the playback.
    var playingCallback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(states.playing)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: PlayingAccompaniment.self).pointee.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }

    /// Adds the song to a block of the sent voice.
    var sendingCallback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(states.sending)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: SendingAccompaniment.self).pointee.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }
}

/// The position of the playback at a time.
package struct AccompanimentClock: BitwiseCopyable, Hashable, Sendable {
    /// The frames played or dropped so far.
    package var frameCount: Int
    /// The due time of the block that begins after these frames; 0 before the first block.
    package var hostTime: HostTime
    /// True if the block has sound of the song.
    package var isMoving: Bool

    @_noLocks
    init(hostTime: HostTime) {
        frameCount = 0
        self.hostTime = hostTime
        isMoving = false
    }
}
