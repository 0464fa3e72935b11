// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// The path of the remote voices to a device's block, on the playing render thread: mix, insert, accompaniment, volume, peak
/// limiter.
///
/// The insert gets the mix before the volume. The limiter is last, so that neither an insert nor a volume exceeds full scale.
/// The monitor follows, with a limiter for the sum; the levels do not contain it.
struct PlaybackSide: ~Copyable {
    private let voices: PeerMixer.Renderer
    private let levels: LatestValue<HeardLevels>.Writer
    private let cycles: MessageQueue<CallCycle>.Writer
    private let block: Channels  // the cycle's, with the call's channels
    private let capacity: Int
    private let insert: InsertPoint.Renderer
    private let songInsert: InsertPoint.Renderer
    private let scheduledSong: InsertPoint.Renderer
    private var volume: OutputVolume
    private var peakGuard: PeakLimiter
    private var level = HeardLevels()

    init(
        voices: PeerMixer.Renderer, levels: LatestValue<HeardLevels>.Writer, cycles: MessageQueue<CallCycle>.Writer,
        block: Channels, capacity: Int, insert: InsertPoint.Renderer, songInsert: InsertPoint.Renderer,
        scheduledSong: InsertPoint.Renderer, volume: UnsafeMutablePointer<Atomic<UInt32>>, sampleRate: Double
    ) {
        self.voices = voices
        self.levels = levels
        self.cycles = cycles
        self.block = block
        self.capacity = capacity
        self.insert = insert
        self.songInsert = songInsert
        self.scheduledSong = scheduledSong
        self.volume = OutputVolume(volume, sampleRate: sampleRate)
        peakGuard = PeakLimiter(sampleRate: sampleRate)
    }

    /// Renders one cycle.
    @_noLocks
    mutating func process(_ cycle: IOCycle) {
        let frames = min(cycle.frameCount, capacity)
        voices.pull(block, frameCount: frames, sampleTime: cycle.sampleTime, hostTime: cycle.hostTime)
        insert.process(block, cycle, frameCount: frames)
        songInsert.process(block, cycle, frameCount: frames)
        scheduledSong.process(block, cycle, frameCount: frames)
        volume.process(block, frames)
        peakGuard.process(block, frames)
        cycles.push(CallCycle(cycle, frameCount: frames))
        level.last = Level(of: block, frameCount: frames)
        level.peak = max(level.last.peak, level.peak * 0.99)
        write(cycle, frames)
        levels.store(level)
    }

    /// Adds the local voice to the cycle that ``process(_:)`` rendered, if the monitor is on.
    @_noLocks
    mutating func add(_ monitor: inout VoiceMonitor, _ cycle: IOCycle) {
        let frames = min(cycle.frameCount, capacity)
        if monitor.add(to: block, frames) { write(cycle, frames) }
    }

    /// Copies the block to the device's outputs. A mono mix goes to every output channel; a stereo mix goes to the first two, or
    /// its mean to a single one.
    @_noLocks
    private func write(_ cycle: IOCycle, _ frames: Int) {
        for c in 0..<cycle.output.count {
            if block.count == 2 && cycle.output.count == 1 {
                for i in 0..<frames { cycle.output[0][i] = 0.5 * (block[0][i] + block[1][i]) }
            } else if c < block.count || block.count == 1 {
                copySamples(cycle.output[c], block[min(c, block.count &- 1)], frames)
            }
        }
    }
}
