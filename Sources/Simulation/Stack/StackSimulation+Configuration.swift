// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

extension StackSimulation {
    /// The room, its members and their trouble.
    package struct Configuration: Sendable {
        /// 2 to 8.
        package var memberCount = 3
        /// True if members send and play sound.
        package var hasSound = false
        /// The codec of all members; nil for the best. PCM costs the least time.
        package var codec: Codec? = .pcm
        /// Random trouble; nil for none.
        package var trouble: Trouble? = .minutes
        /// Seconds in which all members must agree and be connected after a disturbance has ended. A member that vanished keeps
        /// its place for 60 s, and parts of a split room are reunited by their users, one after the other.
        package var settlingLimit = 240.0
        /// One of so many requests is written as HTTP and read again; 1 for all.
        package var encodedShare: UInt64 = 1
        /// The same seed gives the same outcome.
        package var seed: UInt64 = 1

        /// Datagrams between any two members while there is no trouble.
        package var network = NetworkProfile(delay: .uniform(0.001...0.006), loss: .independent(0.002))
        /// Hertz, of all cards.
        package var sampleRate = 48_000.0
        package var policy = AdmissionPolicy.all
        /// Broken promises after which the simulation stops.
        package var violationLimit = 16
        /// True if lines of the outcome are kept.
        package var keepsLines = false
        /// A defect to be found; nil for none.
        package var defect: Defect?

        /// Three members without sound.
        package init() {}
    }

    /// Random trouble: episodes of disturbances with quiet between them.
    package struct Trouble: Sendable {
        /// Seconds from the beginning to the first episode; nil for after the members have agreed.
        package var begin: Double?
        /// Seconds of quiet between the agreement after an episode and the next, at least and at most.
        package var quiet: ClosedRange<Double>
        /// Disturbances in an episode, at most.
        package var count: Int
        /// Seconds in which an episode's disturbances begin.
        package var length: Double
        /// Seconds that a disturbance lasts, at least and at most.
        package var duration: ClosedRange<Double>

        /// An episode of this form.
        package init(
            begin: Double? = nil, quiet: ClosedRange<Double>, count: Int, length: Double, duration: ClosedRange<Double>
        ) {
            self.begin = begin
            self.quiet = quiet
            self.count = count
            self.length = length
            self.duration = duration
        }

        /// An episode each few minutes, with up to eight disturbances of up to 90 s.
        package static let minutes = Trouble(quiet: 2...300, count: 8, length: 60, duration: 0.2...90)
        /// One or two disturbances of up to 3 s within the first 9 s, for runs of 20 s.
        package static let seconds = Trouble(begin: 4, quiet: 20...40, count: 2, length: 2, duration: 0.2...3)
    }

    /// A product that is broken on purpose: the simulation must notice.
    package enum Defect: Sendable {
        /// Answers to a member's offers are dropped.
        case losesAnswers
        /// A guest opens no second event stream.
        case neverReconnects
        /// A member keeps its old addresses to itself after a move.
        case hidesMoves
        /// Sound that a member gets is not played.
        case losesSound
        /// A member sends sound in clear.
        case sendsClear
    }
}
