// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Unexpected behaviour of servers and drivers, each with the version that showed it; docs/devices.md has those that need structure
/// rather than a number.
enum Quirks {
    // MARK: JACK

    /// Frames that a client lost before a cycle.
    ///
    /// jackd's counter runs on through cycles in which the client was left out, but not through the server's own xruns, after
    /// which only its clock jumps. And at the first cycle of a new block the counter is ahead: it adds the new block's length
    /// for the last cycle of the old one. Seen on jackd 1.9.21 with the dummy driver: from 64 to 1,024 frames it says that 960
    /// were lost while the calls follow without a gap.
    /// - Parameters:
    ///   - counted: by how much the counter is past the last cycle's end.
    ///   - gap: frames between the last cycle's predicted end and this one's start, by the server's clock.
    ///   - frameCount: of this cycle.
    ///   - last: of the cycle before.
    @_noLocks
    static func jackLostFrames(counted: Int64, gap: Double, frameCount: UInt32, last: UInt32) -> Int64 {
        let left = max(0, counted &- (Int64(frameCount) &- Int64(last)))
        return gap - Double(left) > 0.5 * Double(frameCount) ? earshot_round(gap) : left
    }

    /// Seconds beyond a block that calls must be late, eight in a row and for 50 ms, for their frames to count as lost. A jackd that stood
    /// still (SIGSTOP for 0.4 s, 1.9.21, dummy driver) tells of an xrun, but now and then goes on with its counter and its
    /// clock as though no time had passed.
    static var jackStillness: Double { @_noLocks get { 0.02 } }

    // MARK: PipeWire

    /// The sink that wireplumber makes if there is no loudspeaker (0.4.13).
    static let pipeWireStandIn = "auto_null"
    /// Seconds that a driver's time may be off without a frame being lost: some drivers give the time at which they woke up
    /// (0.3.65, virtual devices).
    static var pipeWireTimeSlack: Double { @_noLocks get { 0.005 } }
    /// Nanoseconds: an older time of a driver is not when the cycle began. A virtual device that was stopped catches up with
    /// times long past (0.3.65).
    static var pipeWireOldestTime: Int64 { @_noLocks get { 100_000_000 } }

    // MARK: ALSA

    /// Blocks of silence before the first call if a plug-in leads to a sound server: PipeWire's reads two at once before it keeps
    /// time (pipewire-alsa 0.3.65).
    static let alsaServerPreroll = 3
    /// Blocks in a USB card's buffer: its packets take their time, and two run over.
    static let alsaUSBPeriods = 3
}
