// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Unexpected behaviour of servers and drivers, with the version that showed it; docs/devices.md has the quirks that need code
/// rather than a number.
enum Quirks {
    // MARK: JACK

    /// Returns the frames that a client lost before a cycle.
    ///
    /// jackd's counter counts cycles in which the client was left out, but not the server's own xruns, after which only its clock
    /// jumps. And at the first cycle of a new block size the counter is ahead: it adds the new length for the last cycle of the
    /// old one. Seen on jackd 1.9.21 with the dummy driver: from 64 to 1,024 frames it reports 960 lost frames while the calls
    /// follow without a gap.
    /// - Parameters:
    ///   - counted: the distance of the counter from the last cycle's end.
    ///   - gap: the frames between the last cycle's predicted end and this one's start, by the server's clock.
    ///   - frameCount: the frames of this cycle.
    ///   - last: the frames of the previous cycle.
    @_noLocks
    static func jackLostFrames(counted: Int64, gap: Double, frameCount: UInt32, last: UInt32) -> Int64 {
        let left = max(0, counted &- (Int64(frameCount) &- Int64(last)))
        return gap - Double(left) > 0.5 * Double(frameCount) ? earshot_round(gap) : left
    }

    /// The seconds beyond a block that eight successive calls over 50 ms must be late for their frames to count as lost. A jackd
    /// that was suspended (SIGSTOP for 0.4 s, 1.9.21, dummy driver) reports an xrun, but sometimes continues its counter and
    /// clock as if no time had passed.
    static var jackStallTime: Double { @_noLocks get { 0.02 } }

    // MARK: PipeWire

    /// The sink that wireplumber creates if there is no loudspeaker (0.4.13).
    static let pipeWireStandIn = "auto_null"
    /// The seconds by which a driver's time may be off without a lost frame: some drivers report their wake-up time (0.3.65,
    /// virtual devices).
    static var pipeWireTimeSlack: Double { @_noLocks get { 0.005 } }
    /// The age in nanoseconds from which a driver's time is not the cycle's start. A virtual device that was stopped catches up
    /// with old times (0.3.65).
    static var pipeWireOldestTime: Int64 { @_noLocks get { 100_000_000 } }

    // MARK: ALSA

    /// The blocks of silence before the first call if a plug-in leads to a sound server: PipeWire's reads two at once before it
    /// keeps time (pipewire-alsa 0.3.65).
    static let alsaServerPreroll = 3
    /// The blocks in a USB card's buffer: its packets take time, and two blocks underrun.
    static let alsaUSBPeriods = 3
}
