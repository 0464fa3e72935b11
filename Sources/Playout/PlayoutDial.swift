// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// The trade of delay against gaps, from quick (0) to safe (1).
///
/// A position stands for a share of packets that may come too late and a delay that is never exceeded for it; between
/// the three presets both go by equal ratios.
@frozen
public struct PlayoutDial: Hashable, Sendable, BitwiseCopyable {
    /// From 0, quick, to 1, safe.
    public let position: Double

    /// - Parameter position: from 0 to 1; nil for any other.
    public init?(position: Double) {
        guard position >= 0, position <= 1 else { return nil }
        self.position = position
    }

    @_noLocks
    init(valid position: Double) { self.position = position }

    /// For making music together: 1 % may be late, and nothing is waited for longer than 15 ms.
    public static var sing: PlayoutDial { @_noLocks get { PlayoutDial(valid: 0) } }
    /// For conversation: 0.3 % may be late, at most 80 ms.
    public static var talk: PlayoutDial { @_noLocks get { PlayoutDial(valid: 0.5) } }
    /// For listening and recording: 0.02 % may be late, at most 500 ms.
    public static var listen: PlayoutDial { @_noLocks get { PlayoutDial(valid: 1) } }

    /// The presets by name, from quick to safe.
    public static var presets: [(name: String, dial: PlayoutDial)] {
        [("sing", .sing), ("talk", .talk), ("listen", .listen)]
    }

    /// The share of packets that may come too late; 0.01 is 1 %.
    package var lateShare: Double { @_noLocks get { between(0.01, 0.003, 0.000_2) } }

    /// Seconds of the network's unsteadiness that are waited for at most.
    package var ceiling: Double { @_noLocks get { between(0.015, 0.080, 0.500) } }

    /// Seconds of the past that decide: enough packets to know the share by, few enough to forget soon.
    var memory: Double { @_noLocks get { between(6, 12, 60) } }

    /// Seconds that are waited for one packet more in all of the memory. The share that may be late is a bound: of short packets 1 % are
    /// hundreds of gaps a minute, and where delays end in a cliff a little more saves them all. From `talk` on, 0: few are left. A millisecond is what
    /// stalls of up to 5 ms, ten a second, need for 3 unrepaired losses a minute (`scripts/bench playout lab`, stall5).
    var worth: Double { @_noLocks get { 0.001 * max(0, min(1, 2 - 4 * position)) } }

    /// Returns true if a spell of long delays that is over is forgotten before that: up to `talk`, as further on delay costs little.
    var forgetsSpells: Bool { @_noLocks get { position <= 0.5 } }

    /// Seconds in hand beyond the delay that is wanted: `most`, and if the latest packets are hardly behind that delay, by `tail`
    /// seconds, a quick dial has less.
    @_noLocks
    func margin(tail: Double, most: Double) -> Double { min(most, between(0.4, 1, 1) * most + tail) }

    /// Returns true if half a block is worth the care that it takes: a quick dial's, to which a few milliseconds are much.
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

extension PlayoutDial: LosslessStringConvertible {
    /// A preset's name, or a position as a number from 0 to 1; nil for any other text.
    public init?(_ text: String) {
        if let preset = Self.presets.first(where: { $0.name == text }) {
            self = preset.dial
        } else if let position = Double(text) {
            self.init(position: position)
        } else {
            return nil
        }
    }

    /// The preset's name, or the position.
    public var description: String { Self.presets.first { $0.dial == self }?.name ?? "\(position)" }
}
