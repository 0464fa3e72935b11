// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotClockSync
@testable import EarshotDuet

/// A singer who comes into a song that plays, with an estimate of the leader's clock that becomes better.
@Suite struct JoinTests {
    private static func time(_ seconds: Double) -> HostTime { HostTime(nanoseconds: 0).advanced(bySeconds: seconds) }

    /// A singer whose clock is the leader's. The estimate begins at 1 s, and is off by 20 ms at first.
    private struct Rig {
        var core = DuetCore(own: 1, singer: 11)
        var message = DuetMessage()
        /// The seconds that the estimate states as its error.
        let claim: Double
        /// The second of the first estimate.
        var clockStart = 1.0
        /// The song's start on the leader's clock.
        static let songStart = 0.5

        init(claim: Double) throws {
            self.claim = claim
            core.setMembers([0, 1], host: 0)
            (message.song, message.clock) = (DuetRig.song, .init(term: 1, from: 0, to: 0, rate: 0))
            var transport = DuetTransport()
            (transport.revision, transport.state) = (1, .playing)
            transport.time = Int64(Self.songStart * 1e9)
            message.transport = transport
        }

        func error(at seconds: Double) -> Double { 20e-3 / (1 + 10 * (seconds - clockStart)) }

        /// Runs one turn of the singer's program.
        mutating func turn(at seconds: Double) throws -> [DuetCore<Int>.Action] {
            let now = JoinTests.time(seconds)
            core.receive(message.bytes, from: 0, at: now)
            core.setPresentSong(DuetRig.song.hash)
            if core.song != nil, core.agreement == nil { try core.agree() }
            if seconds >= clockStart {
                let clock = PeerClock(
                    localReference: now, peerReference: now.advanced(bySeconds: error(at: seconds)), rate: 0,
                    rateError: 1e-6, error: claim, roundTripError: 0.01)
                core.setClock(clock, of: 0)
            }
            return core.tick(at: now)
        }
    }

    @Test(arguments: [(claim: 0.3e-3, wait: 0.8), (claim: 3e-3, wait: 1.3)])
    func `one who joins waits for a better estimate, and the start follows it until 0.1 s before`(
        claim: Double, wait: Double
    ) throws {
        var rig = try Rig(claim: claim)
        var plays: [Double] = []
        var start = (time: HostTime(nanoseconds: 0), position: 0.0)
        var moves: [Double] = []
        for turn in 0..<80 {
            let seconds = 0.05 * Double(turn)
            for action in try rig.turn(at: seconds) {
                switch action {
                case .play(let position, let time):
                    plays.append(seconds)
                    start = (time, position)
                case .moveStart(let time):
                    moves.append(seconds)
                    start.time = time
                case .pause: Issue.record("it pauses at \(seconds) s")
                default: break
                }
            }
        }
        let heard = start.time.seconds(since: Self.time(0))
        #expect(plays.count == 1 && abs(heard - rig.clockStart - wait) < 0.06, "\(plays) \(heard)")
        #expect(moves.count >= 2 && moves.allSatisfy { $0 < heard - 0.1 }, "\(moves)")
        // The last estimate that counts is at most 0.15 s older than the start.
        let error = abs(heard - Rig.songStart - start.position)
        #expect(error <= rig.error(at: heard - 0.17) && error < rig.error(at: heard - 0.3), "\(error)")
    }

    @Test func `a machine that slept is silent until it knows the time again`() throws {
        var rig = try Rig(claim: 0.3e-3)
        for turn in 0..<80 { _ = try rig.turn(at: 0.05 * Double(turn)) }
        #expect(rig.core.duePosition(at: Self.time(4)) != nil)
        rig.core.slept()
        rig.clockStart = 4.3
        var actions: [(at: Double, action: DuetCore<Int>.Action)] = []
        for turn in 80..<120 {
            let seconds = 0.05 * Double(turn)
            for action in try rig.turn(at: seconds) {
                switch action {
                case .play, .pause: actions.append((seconds, action))
                default: break
                }
            }
        }
        #expect(actions.count == 2, "\(actions)")
        guard let first = actions.first, case .pause(let end) = first.action, let last = actions.last,
            case .play(_, let start) = last.action
        else { throw Unexpected() }
        #expect(first.at == 4 && end <= Self.time(4))
        #expect(start.seconds(since: Self.time(rig.clockStart)) > 0.79)
    }

    private struct Unexpected: Error {}
}
