// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import earshot

/// The keys of a duet, without a terminal.
@Suite struct DuetKeysTests {
    private let ben = DuetExample.ben

    @Test func `a key has an order in the phases in which it makes sense`() {
        let orders: [(Key, DuetStatus<MemberID>.Phase, DuetOrder?)] = [
            (.enter, .agreeing, .agree(true)), (.enter, .singing, nil), (.character("p"), .singing, .pause),
            (.character("p"), .counting(1), .pause), (.character("p"), .paused, .resume),
            (.character("p"), .ended, nil), (.left, .singing, .seek(to: 55)), (.right, .paused, .seek(to: 65)),
            (.left, .agreeing, nil), (.character("r"), .ended, .singAgain), (.character("r"), .singing, nil),
            (.character("r"), .agreeing, nil), (.character("r"), .counting(1), nil),
            (.character("m"), .singing, nil), (.tab, .singing, nil),
            (.tab, .agreeing, .setMode(.led(by: MemberID(1)!))),
        ]
        for (key, phase, order) in orders {
            #expect(DuetKeys.order(for: key, DuetExample.status(phase)) == order, "\(key) \(phase)")
        }
        let led = DuetExample.status(.agreeing) { $0.duet.mode = .led(by: MemberID(1)!) }
        #expect(DuetKeys.order(for: .tab, led) == .setMode(.led(by: ben)))
        let ledByBen = DuetExample.status(.agreeing) { $0.duet.mode = .led(by: ben) }
        #expect(DuetKeys.order(for: .tab, ledByBen) == .setMode(.inTurn(MemberID(1)!)))
        let turnOfBen = DuetExample.status(.agreeing) { $0.duet.mode = .inTurn(ben) }
        #expect(DuetKeys.order(for: .tab, turnOfBen) == .setMode(.together))
        // Another mode would forget the earlier voices.
        let nextTurn = DuetExample.status(.agreeing) { ($0.duet.mode, $0.duet.keptAttempt) = (.inTurn(ben), 1) }
        #expect(DuetKeys.order(for: .tab, nextTurn) == .setMode(.inTurn(MemberID(1)!)))
        let isOver = DuetExample.status(.ended) { $0.duet.mode = .inTurn(ben) }
        #expect(DuetKeys.order(for: .tab, isOver) == nil)
        let isMixed = DuetExample.status(.ended) { ($0.duet.mode, $0.mixPath) = (.inTurn(ben), "/mix.m4a") }
        #expect(DuetKeys.order(for: .tab, isMixed) == .nextTurn)
        let mixed = DuetExample.status(.ended) { $0.mixPath = "/d/mix.m4a" }
        #expect(DuetKeys.order(for: .enter, mixed) == .listen(true))
        #expect(DuetKeys.order(for: .character("e"), mixed) == MixPreset.named("room").map { .mix($0) })
        #expect(DuetKeys.order(for: .character("e"), DuetExample.status(.ended)) == nil)
        #expect(DuetKeys.order(for: .enter, DuetExample.status(.ended)) == nil)
        #expect(DuetKeys.order(for: .enter, DuetExample.status(.listening)) == .listen(false))
        #expect(
            DuetKeys.owns(.character("r"), DuetExample.status(.agreeing))
                && DuetKeys.owns(.character("R"), DuetExample.status(.singing)))
        #expect(!DuetKeys.owns(.character("m"), DuetExample.status(.singing)))
        #expect(!DuetKeys.owns(.character("r"), DuetExample.status(.noSong) { $0.duet.song = nil }))
        let agreed = DuetExample.status(.agreeing) { $0.duet.hasAgreed = true }
        #expect(DuetKeys.order(for: .enter, agreed) == .agree(false))
    }

    @Test func `after the song the arrows select a voice of the mix, and change it`() {
        var keys = DuetKeys()
        var status = DuetExample.status(.ended) { $0.mixPath = "/d/mix.m4a" }
        #expect(keys.take(.up, status, []) == nil)
        status.balance.voices = [
            .init(name: "song", isSong: true), .init(name: "Ann"), .init(name: "Ben", decibels: 2),
        ]
        #expect(keys.selectedVoice(status) == nil)
        #expect(keys.take(.right, status, []) == .perform(.balance(voice: "Ann", decibels: 1)))
        #expect(keys.take(.down, status, []) == .ignore && keys.selectedVoice(status)?.name == "Ben")
        #expect(keys.take(.left, status, []) == .perform(.balance(voice: "Ben", decibels: 1)))
        _ = keys.take(.down, status, [])
        #expect(keys.selectedVoice(status)?.isSong == true)
        _ = keys.take(.up, status, [])
        #expect(keys.selectedVoice(status)?.name == "Ben")
        status.duet.phase = .singing
        #expect(keys.take(.left, status, []) == .perform(.seek(to: 55)) && keys.take(.up, status, []) == nil)
    }

    @Test func `in mid-song the key r asks first, and y begins a new take`() {
        let question = "Sing again from the beginning? This take stays as take 1, unfinished."
        let guest = JoinRequestID(number: 7)
        for phase in [DuetStatus<MemberID>.Phase.counting(1), .singing, .paused] {
            var keys = DuetKeys()
            #expect(keys.take(.character("y"), DuetExample.status(phase), []) == nil)
            #expect(
                keys.take(.character("r"), DuetExample.status(phase), [])
                    == .ask("\(question) Keys: y sing again, n go on"))
            #expect(keys.take(.character("n"), DuetExample.status(phase), []) == .say("The song goes on."))
            #expect(keys.take(.character("y"), DuetExample.status(phase), []) == nil)
            _ = keys.take(.character("R"), DuetExample.status(phase), [])
            #expect(keys.take(.character("y"), DuetExample.status(phase), []) == .perform(.singAgain))
            // Another key closes the question.
            _ = keys.take(.character("r"), DuetExample.status(phase), [])
            #expect(keys.take(.character("m"), DuetExample.status(phase), []) == nil)
            #expect(keys.take(.character("y"), DuetExample.status(phase), []) == nil)
            // The answer may be meant for a guest who asks meanwhile.
            _ = keys.take(.character("r"), DuetExample.status(phase), [])
            #expect(
                keys.take(.character("y"), DuetExample.status(phase), [guest]) == .say(DuetSentences.questionChanged))
            // The song may be over before the answer.
            _ = keys.take(.character("r"), DuetExample.status(phase), [])
            #expect(keys.take(.character("y"), DuetExample.status(.ended), []) == .say(DuetSentences.takeIsOver))
        }
        var keys = DuetKeys()
        #expect(keys.take(.character("r"), DuetExample.status(.ended), []) == .perform(.singAgain))
        #expect(keys.take(.character("r"), DuetExample.status(.agreeing), []) == .ignore)
    }

    @Test func `the host chooses the next song by n, except in mid-song and while n answers a guest`() {
        var keys = DuetKeys()
        let n = Key.character("n")
        for phase in [DuetStatus<MemberID>.Phase.agreeing, .gettingSong, .ended, .listening] {
            #expect(keys.take(n, DuetExample.status(phase), [], isHost: true) == .chooseSong)
            #expect(keys.take(n, DuetExample.status(phase), []) == .say("The host chooses the next song."))
        }
        let over = DuetExample.status(.ended)
        #expect(keys.take(n, over, [JoinRequestID(number: 7)], isHost: true) == nil)
        #expect(keys.take(n, over, [], isHost: true, isAsked: true) == nil)
        #expect(keys.take(n, DuetExample.status(.noSong) { $0.duet.song = nil }, [], isHost: true) == nil)
        let refusal = DuetKeys.Action.say("The next song can be chosen after this one.")
        for phase in [DuetStatus<MemberID>.Phase.findingTime, .counting(1), .singing, .paused] {
            #expect(keys.take(n, DuetExample.status(phase), [], isHost: true) == refusal)
        }
        let others = DuetExample.status(.agreeing) { $0.duet.phaseOfOthers = .singing }
        #expect(keys.take(n, others, [], isHost: true) == refusal)
        // In mid-song the key answers an open question first.
        _ = keys.take(.character("r"), DuetExample.status(.singing), [], isHost: true)
        #expect(keys.take(n, DuetExample.status(.singing), [], isHost: true) == .say("The song goes on."))
    }

    @Test func `the key w swaps the parts before the song`() {
        var keys = DuetKeys()
        let w = Key.character("w")
        #expect(keys.take(w, DuetExample.status(.agreeing) { $0.duet.part = 1 }, []) == .perform(.setPart(2)))
        #expect(keys.take(w, DuetExample.status(.agreeing) { $0.duet.part = 2 }, []) == .perform(.setPart(1)))
        #expect(keys.take(w, DuetExample.status(.agreeing), []) == nil)
        #expect(keys.take(w, DuetExample.status(.singing) { $0.duet.part = 1 }, []) == nil)
    }

    @Test func `the key g changes the level of the guide vocal, if there is one`() {
        var keys = DuetKeys()
        let g = Key.character("g")
        #expect(keys.take(g, DuetExample.status(.singing), []) == .say("The song has no guide vocal."))
        for (gain, next) in [(1, 0.2), (0.2, 0), (0, 1), (0.5, 0.2)] as [(Float, Float)] {
            let status = DuetExample.status(.singing) { $0.guide = .init(gain: gain, isHere: false) }
            #expect(keys.take(g, status, []) == .perform(.setGuide(gain: next)))
        }
        #expect(keys.take(g, DuetExample.status(.noSong) { $0.duet.song = nil }, []) == nil)
    }

    @Test func `in mid-song the key q asks first, and y leaves`() {
        var keys = DuetKeys()
        let singing = DuetExample.status(.singing)
        #expect(
            keys.take(.character("q"), singing, [])
                == .ask("Leave in mid-song? This take stays as take 1, unfinished. Keys: y leave, n go on"))
        #expect(keys.take(.character("n"), singing, []) == .say("The song goes on."))
        _ = keys.take(.character("q"), singing, [])
        #expect(keys.take(.character("y"), singing, []) == .leave)
        // The song may be over before the answer.
        _ = keys.take(.character("Q"), singing, [])
        #expect(keys.take(.character("y"), DuetExample.status(.ended), []) == .leave)
        #expect(keys.take(.character("q"), DuetExample.status(.ended), []) == nil)
        #expect(keys.take(.character("q"), DuetExample.status(.agreeing), []) == nil)
    }

    @Test func `a key that does nothing has an answer`() {
        let alone = DuetExample.status(.agreeing) { $0.duet.singers = [] }
        #expect(DuetKeys.order(for: .enter, alone) == nil)
        #expect(DuetKeys.answer(to: .enter, alone) == "Nobody else is here yet.")
        #expect(DuetKeys.answer(to: .enter, DuetExample.status(.agreeing)) == nil)
        for key in [Key.character("p"), .left, .right] {
            #expect(DuetKeys.order(for: key, DuetExample.status(.listening)) == nil)
            #expect(
                DuetKeys.answer(to: key, DuetExample.status(.listening))?.contains("Enter stops it for all.") == true)
            #expect(DuetKeys.answer(to: key, DuetExample.status(.singing)) == nil)
        }
        #expect(DuetKeys.help.contains("or stop it for all"))
        // A singer who has agreed, and whose guest has left, can withdraw.
        var agreed = alone
        agreed.duet.hasAgreed = true
        #expect(DuetKeys.order(for: .enter, agreed) == .agree(false))
        var left = DuetExample.status(.agreeing)
        left.duet.hasLeft = true
        #expect(DuetKeys.order(for: .character("r"), left) == .singAgain)
    }
}
