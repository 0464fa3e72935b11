// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Unexpected behaviour of servers and drivers, with the versions that showed it; docs/devices.md has the quirks that need code
/// rather than a number.
enum Quirks {
    // MARK: JACK

    /// Returns the frames that a JACK client lost before a cycle.
    ///
    /// jackd's frame counter includes cycles in which the client was left out, but not the server's own xruns, after which only
    /// its clock jumps. At the first cycle of a new block size the counter is ahead: it adds the new length for the last cycle
    /// with the old length. Seen on jackd 1.9.21 with the dummy driver: after a change from 64 to 1,024 frames it reports 960
    /// lost frames, while the callbacks follow without a gap.
    /// - Parameters:
    ///   - counted: the frames from the previous cycle's end to this cycle's start, by jackd's frame counter.
    ///   - gap: the frames from the previous cycle's predicted end to this cycle's start, by the server's clock.
    ///   - frameCount: the length of this cycle in frames.
    ///   - last: the length of the previous cycle in frames.
    @_noLocks
    static func jackLostFrames(counted: Int64, gap: Double, frameCount: UInt32, last: UInt32) -> Int64 {
        let leftOutFrames = max(0, counted &- (Int64(frameCount) &- Int64(last)))
        return gap - Double(leftOutFrames) > 0.5 * Double(frameCount) ? earshot_round(gap) : leftOutFrames
    }

    /// The seconds, in addition to one block, from which a JACK callback is too late: if eight or more successive callbacks over
    /// more than 50 ms are too late, frames count as lost. A jackd that was suspended (SIGSTOP for 0.4 s, 1.9.21, dummy driver)
    /// reports an xrun, but sometimes continues its counter and clock as if no time had passed.
    static var jackStallTime: Double { @_noLocks get { 0.02 } }

    // MARK: PipeWire

    /// The name of the sink that wireplumber creates if there is no loudspeaker (0.4.13).
    static let pipeWireStandIn = "auto_null"
    /// The seconds, in addition to one cycle, by which a PipeWire driver's time may be off without a lost frame: some drivers
    /// report their wake-up time (0.3.65, virtual devices).
    static var pipeWireTimeSlack: Double { @_noLocks get { 0.005 } }
    /// The age in nanoseconds from which a PipeWire driver's time does not count as the cycle's start. A virtual device that was
    /// stopped catches up with old times (0.3.65).
    static var pipeWireOldestTime: Int64 { @_noLocks get { 100_000_000 } }

    // MARK: ALSA

    /// The number of blocks of silence to play before the first callback on an ALSA plug-in, which may lead to a sound server:
    /// PipeWire's plug-in reads two blocks at once before it keeps time (pipewire-alsa 0.3.65).
    static let alsaServerPreroll = 3
    /// The number of blocks in a USB card's buffer: USB packets take time, so a buffer of two blocks underruns.
    static let alsaUSBPeriods = 3
}
