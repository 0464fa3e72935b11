// SPDX-License-Identifier: Apache-2.0

/// Finds the useless part of the delay, if packets and blocks have lengths with a common divisor.
///
/// A packet is in time if the last callback *before* its arrival did not need it. So the delay must reach from a packet's first
/// frame to that callback, not to its arrival: delays between two such positions save no packet that the smaller one does not
/// save. The positions are one common divisor of packet and block (*unit*) apart, whatever the phase of the two clocks. A delay
/// that ends at such a position is half a unit shorter, on average, than one for the worst phase.
///
/// With drift the positions move relative to the arrivals, and the least safe delay is a saw tooth of a whole unit. The delay is
/// constant between two jumps and changes from one level to the other at ``slew``, upwards before it is needed; all this is
/// inaudible. Delays are offsets in seconds, as in ``DelayTracker``. For the render thread.
struct BlockGrid: BitwiseCopyable {
    /// The target delay in seconds, and its slope in seconds a second.
    struct Aim: BitwiseCopyable {
        var offset: Double
        var slope: Double

        @_noLocks
        init(offset: Double, slope: Double) {
            self.offset = offset
            self.slope = slope
        }
    }

    /// The maximum slope of the delay: 400 ppm, a change of pitch by 0.7 cents.
    static var slew: Double { @_noLocks get { 400e-6 } }
    /// The minimum unit in seconds: smaller ones save too little.
    private static var minimumUnit: Double { @_noLocks get { 0.000_5 } }
    /// The maximum unit in seconds: with larger ones the jumps of the delay are audible.
    private static var maximumUnit: Double { @_noLocks get { 0.003 } }
    /// The maximum drift: faster clocks leave no time between two jumps.
    private static var maximumDrift: Double { @_noLocks get { 150e-6 } }
    /// The frames by which a delay must reach beyond its position, because it is steered only to within one frame.
    private static var reserveFrames: Double { @_noLocks get { 2.5 } }
    /// The seconds of the playout's margin that a slow change may use up before the delay has followed.
    private static var tolerance: Double { @_noLocks get { 0.000_1 } }
    /// The seconds for which packets and blocks must have kept to the grid, and a smaller delay must have sufficed.
    private static var settlingTime: Double { @_noLocks get { 2 } }

    /// The factor by which the growth of the delay for a slow sender begins earlier than the drift requires.
    private static var leadFactor: Double { @_noLocks get { 1.2 } }
    /// The minimum distance in seconds from the next position at which a smaller delay suffices, since arrivals vary by as much.
    private static var minimumGuard: Double { @_noLocks get { 0.000_08 } }
    /// The minimum distance from the next position at which a smaller delay suffices, as a share of the unit.
    private static var guardShare: Double { @_noLocks get { 1.0 / 16 } }

    private var packetFrames = 0
    private var packetPosition = 0
    private var blockFrames = 0
    private var blockTime: Int64 = 0
    private var regularSince = Double.infinity  // the time since which packets and blocks keep to the grid
    private var calmSince = Double.infinity  // the time since which a smaller delay has sufficed
    private var currentOffset = Double.infinity  // the delay of the last block; .infinity for none

    /// Adds a packet of the stream that was not recovered.
    @_noLocks
    mutating func addPacket(position: Int, frameCount: Int, at now: Double) {
        if frameCount != packetFrames || (position &- packetPosition) % max(1, frameCount) != 0 { regularSince = now }
        packetFrames = frameCount
        packetPosition = position
    }

    /// Adds a block that is about to be rendered.
    @_noLocks
    mutating func addBlock(sampleTime: Int64, frameCount: Int, at now: Double) {
        if frameCount != blockFrames || (sampleTime &- blockTime) % Int64(max(1, frameCount)) != 0 {
            regularSince = now
        }
        blockFrames = frameCount
        blockTime = sampleTime
    }

    /// Forgets everything; the next target is the wanted delay.
    @_noLocks
    mutating func reset() { self = BlockGrid() }

    /// Starts again from the wanted delay; packets and blocks stay known.
    @_noLocks
    mutating func release() { currentOffset = .infinity }

    /// Returns the target delay for the next block.
    /// - Parameters:
    ///   - wanted: the delay that suffices for every phase of the clocks, as an offset in seconds.
    ///   - rate: the frames a second of stream and device.
    ///   - drift: the sender's clock relative to the device's.
    ///   - isKnown: true if drift and delays are known well enough to go below `wanted`.
    @_noLocks
    mutating func aim(wanted: Double, rate: Double, drift: Double, now: Double, isKnown: Bool) -> Aim {
        let unit = Double(Self.greatestCommonDivisor(packetFrames, blockFrames)) / rate
        guard unit >= Self.minimumUnit, unit <= Self.maximumUnit, now - regularSince > Self.settlingTime else {
            currentOffset = wanted
            calmSince = now
            return Aim(offset: wanted, slope: 0 - drift)
        }
        let gridPhase = now - Double(packetPosition) / rate
        let reserve = Self.reserveFrames / rate
        let overshoot = remainder(wanted - gridPhase, unit)
        let leastOffset = min(wanted, wanted - overshoot + reserve)
        let toleratedOffset = wanted - Self.tolerance
        let leastOffsetNow = min(wanted, toleratedOffset - remainder(toleratedOffset - gridPhase, unit) + reserve)
        let step = Self.slew * Double(blockFrames) / rate
        // With a slow sender the positions move by this many seconds while the delay grows by a unit.
        let lead = max(0, 0 - drift) * unit / Self.slew * Self.leadFactor
        let isAllowed = isKnown && drift <= Self.maximumDrift && drift >= 0 - Self.maximumDrift
        let guardDistance = max(Self.minimumGuard, unit * Self.guardShare)
        if overshoot > unit - lead - guardDistance { calmSince = now }

        if currentOffset == .infinity { calmSince = now }
        currentOffset = min(currentOffset, wanted)
        if currentOffset < leastOffsetNow {
            calmSince = now
            currentOffset = leastOffsetNow
            return Aim(offset: currentOffset, slope: 0)
        }
        var goal = currentOffset
        if currentOffset < leastOffset {
            goal = leastOffset
        } else if !isAllowed || overshoot > unit - lead {
            goal = wanted
        } else if now - calmSince > Self.settlingTime {
            goal = leastOffset
        }
        if goal <= currentOffset + step, goal >= currentOffset - step {
            currentOffset = goal
            return Aim(offset: currentOffset, slope: goal == wanted ? 0 - drift : 0)
        }
        let slope = goal > currentOffset ? Self.slew : 0 - Self.slew
        currentOffset += goal > currentOffset ? step : 0 - step
        return Aim(offset: currentOffset, slope: slope)
    }

    /// Returns the remainder of `value` modulo the unit, 0 or more.
    @_noLocks
    private func remainder(_ value: Double, _ unit: Double) -> Double {
        let signedRemainder = value - Double(Int(value / unit)) * unit
        return signedRemainder < 0 ? signedRemainder + unit : signedRemainder
    }

    @_noLocks
    static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
        var (a, b) = (a, b)
        while b > 0 { (a, b) = (b, a % b) }
        return a
    }
}
