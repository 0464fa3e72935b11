// SPDX-License-Identifier: Apache-2.0

/// Finds what of the delay serves nothing, where packets and blocks are of lengths with a common measure.
///
/// A packet is in time if the last callback *before* it came did not need it. So the delay must reach from a packet's first frame
/// to that callback and not to its arrival: delays between two such places save no packet that the lesser does not save, and they
/// lie one common measure of packet and block (*unit*) apart, wherever the two clocks stand. Against a delay that holds for the
/// worst place that is half a unit less in the mean.
///
/// With drift the places slide past the arrivals, and the least delay that is safe is a saw tooth of a whole unit. It is held
/// between two jumps and brought from one to the other at ``slew``, upwards before it must be there; all this is unheard.
/// Delays are offsets, as ``DelayTracker`` has them, in seconds. For the render thread.
struct BlockGrid: BitwiseCopyable {
    /// The target delay, and its drift in seconds a second.
    struct Aim: BitwiseCopyable {
        var offset: Double
        var slope: Double

        @_noLocks
        init(offset: Double, slope: Double) {
            self.offset = offset
            self.slope = slope
        }
    }

    /// Parts of time by which the delay moves for its own sake: 0.7 cents.
    static var slew: Double { @_noLocks get { 400e-6 } }
    /// Seconds of the units that are worth it, and with which the saw tooth's jumps are soon done.
    private static var leastUnit: Double { @_noLocks get { 0.000_5 } }
    private static var greatestUnit: Double { @_noLocks get { 0.003 } }
    /// Clocks further apart leave no time between two jumps.
    private static var greatestDrift: Double { @_noLocks get { 150e-6 } }
    /// Frames in hand: the delay is steered to one frame.
    private static var hand: Double { @_noLocks get { 2.5 } }
    /// Seconds of the margin that a slow change may use up while the delay follows.
    private static var tolerance: Double { @_noLocks get { 0.000_1 } }
    /// Seconds for which packets and blocks must have kept to the places, and a lesser delay have been enough.
    private static var settlingTime: Double { @_noLocks get { 2 } }

    private var packetFrames = 0
    private var packetPosition = 0
    private var blockFrames = 0
    private var blockTime: Int64 = 0
    private var regularSince = Double.infinity  // packets and blocks
    private var calmSince = Double.infinity  // a lesser delay has been enough
    private var held = Double.infinity

    /// Takes note of a packet of the stream that came by itself.
    @_noLocks
    mutating func addPacket(position: Int, frameCount: Int, at now: Double) {
        if frameCount != packetFrames || (position &- packetPosition) % max(1, frameCount) != 0 { regularSince = now }
        packetFrames = frameCount
        packetPosition = position
    }

    /// Takes note of a block that is about to be rendered.
    @_noLocks
    mutating func addBlock(sampleTime: Int64, frameCount: Int, at now: Double) {
        if frameCount != blockFrames || (sampleTime &- blockTime) % Int64(max(1, frameCount)) != 0 {
            regularSince = now
        }
        blockFrames = frameCount
        blockTime = sampleTime
    }

    /// Forgets all that was learnt; the next aim is what is wanted.
    @_noLocks
    mutating func reset() { self = BlockGrid() }

    /// Begins anew from what is wanted; packets and blocks stay known.
    @_noLocks
    mutating func release() { held = .infinity }

    /// Returns the present target delay.
    /// - Parameters:
    ///   - wanted: the delay that would be right wherever the clocks stand.
    ///   - rate: frames a second, of stream and device alike.
    ///   - drift: the sender's clock against the device's.
    ///   - isKnown: whether drift and delays are known well enough to go below `wanted`.
    @_noLocks
    mutating func aim(wanted: Double, rate: Double, drift: Double, now: Double, isKnown: Bool) -> Aim {
        let unit = Double(greatestCommonDivisor(packetFrames, blockFrames)) / rate
        guard unit >= Self.leastUnit, unit <= Self.greatestUnit, now - regularSince > Self.settlingTime else {
            held = wanted
            calmSince = now
            return Aim(offset: wanted, slope: 0 - drift)
        }
        let place = now - Double(packetPosition) / rate
        let hand = Self.hand / rate
        let beyond = remainder(wanted - place, unit)
        let least = min(wanted, wanted - beyond + hand)
        let pressing = wanted - Self.tolerance
        let leastNow = min(wanted, pressing - remainder(pressing - place, unit) + hand)
        let step = Self.slew * Double(blockFrames) / rate
        // The share of a unit that passes while the delay grows by a unit, needed for a slow sender.
        let lead = max(0, 0 - drift) * unit / Self.slew * 1.2
        let isAllowed = isKnown && drift <= Self.greatestDrift && drift >= 0 - Self.greatestDrift
        if beyond > unit - lead - max(0.000_08, unit / 16) { calmSince = now }

        if held == .infinity { calmSince = now }
        held = min(held, wanted)
        if held < leastNow {
            calmSince = now
            held = leastNow
            return Aim(offset: held, slope: 0)
        }
        var goal = held
        if held < least {
            goal = least
        } else if !isAllowed || beyond > unit - lead {
            goal = wanted
        } else if now - calmSince > Self.settlingTime {
            goal = least
        }
        if goal <= held + step, goal >= held - step {
            held = goal
            return Aim(offset: held, slope: goal == wanted ? 0 - drift : 0)
        }
        let slope = goal > held ? Self.slew : 0 - Self.slew
        held += goal > held ? step : 0 - step
        return Aim(offset: held, slope: slope)
    }

    /// Returns the remainder of `value` modulo the unit, 0 or more.
    @_noLocks
    private func remainder(_ value: Double, _ unit: Double) -> Double {
        let left = value - Double(Int(value / unit)) * unit
        return left < 0 ? left + unit : left
    }

    @_noLocks
    private func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
        var (a, b) = (a, b)
        while b > 0 { (a, b) = (b, a % b) }
        return a
    }
}
