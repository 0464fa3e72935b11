// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// The trade of delay against gaps, from fast (0) to safe (1).
///
/// A position means a share of packets that may be late, and a maximum delay; between the three presets both change by equal
/// ratios.
@frozen
public struct LatencyProfile: Hashable, Sendable, BitwiseCopyable {
    /// The position from 0, fast, to 1, safe.
    public let position: Double

    /// - Parameter position: 0 to 1; the result is nil for any other.
    public init?(position: Double) {
        guard position >= 0, position <= 1 else { return nil }
        self.position = position
    }

    @_noLocks
    init(valid position: Double) { self.position = position }

    /// For making music together: 1 % of the packets may be late; at most 15 ms of jitter are compensated.
    public static var sing: LatencyProfile { @_noLocks get { LatencyProfile(valid: 0) } }
    /// For conversation: 0.3 % of the packets may be late; at most 80 ms of jitter are compensated.
    public static var talk: LatencyProfile { @_noLocks get { LatencyProfile(valid: 0.5) } }
    /// For listening and recording: 0.02 % of the packets may be late; at most 500 ms of jitter are compensated.
    public static var listen: LatencyProfile { @_noLocks get { LatencyProfile(valid: 1) } }

    /// The presets by name, from fast to safe.
    public static var presets: [(name: String, profile: LatencyProfile)] {
        [("sing", .sing), ("talk", .talk), ("listen", .listen)]
    }

    /// The share of packets that may be late; 0.01 is 1 %.
    package var lateShare: Double { @_noLocks get { between(0.01, 0.003, 0.000_2) } }

    /// The maximum seconds of jitter that playout compensates.
    package var ceiling: Double { @_noLocks get { between(0.015, 0.080, 0.500) } }

    /// The seconds for which delays are remembered: enough packets to know the share of late ones, few enough to forget soon.
    var memory: Double { @_noLocks get { between(6, 12, 60) } }

    /// The seconds of delay that saving one more packet in the memory is worth. The allowed share is a bound: 1 % of short
    /// packets are hundreds of gaps a minute, and where the distribution of delays ends abruptly slightly more delay saves them
    /// all. From `talk` on the value is 0, as few gaps are left. A millisecond is what stalls of up to 5 ms, ten a second, need
    /// for 3 unrepaired losses a minute (`scripts/bench playout lab`, stall5).
    var delayPerSavedPacket: Double { @_noLocks get { 0.001 * max(0, min(1, 2 - 4 * position)) } }

    /// Returns true if an ended spell of long delays is forgotten early: up to `talk`, as for safer profiles delay costs little.
    var forgetsSpells: Bool { @_noLocks get { position <= 0.5 } }

    /// Returns the margin in seconds: `most`, or less for a fast profile if the latest packets exceed the wanted delay by only
    /// `tail` seconds.
    @_noLocks
    func margin(tail: Double, most: Double) -> Double { min(most, between(0.4, 1, 1) * most + tail) }

    /// Returns true if the profile is fast enough for half a block of delay to matter.
    var followsBlocks: Bool { @_noLocks get { position <= 0.25 } }

    @_noLocks
    private func between(_ sing: Double, _ talk: Double, _ listen: Double) -> Double {
        if position == 1 { return listen }
        let low = position < 0.5 ? sing : talk
        let high = position < 0.5 ? talk : listen
        let part = position < 0.5 ? 2 * position : 2 * position - 1
        return part == 0 ? low : low * earshot_pow(high / low, part)
    }
}

extension LatencyProfile: LosslessStringConvertible {
    /// Reads a preset's name, or a position from 0 to 1; nil for any other text.
    public init?(_ text: String) {
        if let preset = Self.presets.first(where: { $0.name == text }) {
            self = preset.profile
        } else if let position = Double(text) {
            self.init(position: position)
        } else {
            return nil
        }
    }

    /// The preset's name, or the position.
    public var description: String { Self.presets.first { $0.profile == self }?.name ?? "\(position)" }
}
