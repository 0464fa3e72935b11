// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

extension StackSimulation {
    /// The configuration of a room, its members and their trouble.
    package struct Configuration: Sendable {
        /// The number of members, 2 to 8.
        package var memberCount = 3
        /// True if members send and play sound.
        package var hasSound = false
        /// The codec of all members; nil for the best. PCM costs the least time.
        package var codec: Codec? = .pcm
        /// Random trouble; nil for none.
        package var trouble: Trouble? = .minutes
        /// The seconds in which all members must agree and be connected after a disturbance. A vanished member keeps its place
        /// for 60 s, and users reunite parts of a split room one after the other.
        package var settlingLimit = 240.0
        /// One in this number of requests and replies is written as HTTP and parsed again; 1 for all.
        package var encodedShare: UInt64 = 1
        /// The seed: the same seed gives the same outcome.
        package var seed: UInt64 = 1

        /// The network between any two members without trouble.
        package var network = NetworkProfile(delay: .uniform(0.001...0.006), loss: .independent(0.002))
        /// The rate of all cards in hertz.
        package var sampleRate = 48_000.0
        package var policy = AdmissionPolicy.all
        /// The violations after which the simulation stops.
        package var violationLimit = 16
        /// True to keep the lines of the log in ``StackSimulation/lines``.
        package var keepsLines = false
        /// A deliberate defect; nil for none.
        package var defect: Defect?

        /// Creates a configuration of three members without sound.
        package init() {}
    }

    /// Random trouble: episodes of disturbances with quiet between them.
    package struct Trouble: Sendable {
        /// The seconds from the beginning to the first episode; nil to begin after the members have agreed.
        package var begin: Double?
        /// The range of seconds from the agreement after an episode to the next episode.
        package var quiet: ClosedRange<Double>
        /// The maximum disturbances in an episode.
        package var count: Int
        /// The seconds from the beginning of an episode within which all its disturbances begin.
        package var length: Double
        /// The range of a disturbance's length in seconds.
        package var duration: ClosedRange<Double>

        /// Creates random trouble.
        package init(
            begin: Double? = nil, quiet: ClosedRange<Double>, count: Int, length: Double, duration: ClosedRange<Double>
        ) {
            self.begin = begin
            self.quiet = quiet
            self.count = count
            self.length = length
            self.duration = duration
        }

        /// An episode every few minutes, with up to eight disturbances of up to 90 s.
        package static let minutes = Trouble(quiet: 2...300, count: 8, length: 60, duration: 0.2...90)
        /// One or two disturbances of up to 3 s within the first 9 s, for runs of 20 s.
        package static let seconds = Trouble(begin: 4, quiet: 20...40, count: 2, length: 2, duration: 0.2...3)
    }

    /// A deliberate defect of the product, which the simulation must detect.
    package enum Defect: Sendable {
        /// Answers to a member's offers are dropped.
        case losesAnswers
        /// A guest opens no second event stream.
        case neverReconnects
        /// A member does not report its new addresses after a move.
        case hidesMoves
        /// A member's received sound is not played.
        case losesSound
        /// A member sends unencrypted sound.
        case sendsClear
    }
}
