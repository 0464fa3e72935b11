// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import earshot

/// The keys and the sentences of a duet, without a terminal.
@Suite struct DuetNoticesTests {
    private let ben = MemberID(2)!
    private let song = DuetSong(
        name: "Blue Moon.ogg", byteCount: 5, hash: String(repeating: "0a", count: 32), duration: 192)

    private func status(_ phase: DuetStatus<MemberID>.Phase, _ change: (inout LiveDuetStatus) -> Void = { _ in })
        -> LiveDuetStatus
    {
        var duet = DuetStatus<MemberID>()
        (duet.phase, duet.song, duet.position) = (phase, song, 60)
        duet.singers = [.init(member: ben)]
        var status = LiveDuetStatus(duet: duet)
        status.singers = [ben]
        change(&status)
        return status
    }

    private func people(_ delay: Double? = 0.009, hasKeys: Bool = true) -> DuetNotices.People {
        DuetNotices.People(name: { $0 == ben ? "Ben" : "?" }, delay: delay, hasKeys: hasKeys)
    }

    @Test func `a key has an order in the phases in which it makes sense`() {
        let orders: [(Key, DuetStatus<MemberID>.Phase, DuetOrder?)] = [
            (.enter, .agreeing, .agree(true)), (.enter, .singing, nil), (.character("p"), .singing, .pause),
            (.character("p"), .counting(1), .pause), (.character("p"), .paused, .resume),
            (.character("p"), .ended, nil), (.left, .singing, .seek(to: 55)), (.right, .paused, .seek(to: 65)),
            (.left, .agreeing, nil), (.character("r"), .ended, .singAgain), (.character("r"), .singing, nil),
            (.character("r"), .agreeing, nil), (.character("r"), .counting(1), nil),
            (.character("m"), .singing, nil),
        ]
        for (key, phase, order) in orders {
            #expect(DuetKeys.order(for: key, status(phase)) == order, "\(key) \(phase)")
        }
        let mixed = status(.ended) { $0.mixPath = "/d/mix.m4a" }
        #expect(DuetKeys.order(for: .enter, mixed) == .listen(true))
        #expect(DuetKeys.order(for: .character("e"), mixed) == MixPreset.named("room").map { .mix($0) })
        #expect(DuetKeys.order(for: .character("e"), status(.ended)) == nil)
        #expect(DuetKeys.order(for: .enter, status(.ended)) == nil)
        #expect(DuetKeys.order(for: .enter, status(.listening)) == .listen(false))
        #expect(DuetKeys.owns(.character("r"), status(.agreeing)) && DuetKeys.owns(.character("R"), status(.singing)))
        #expect(!DuetKeys.owns(.character("m"), status(.singing)))
        #expect(!DuetKeys.owns(.character("r"), status(.noSong) { $0.duet.song = nil }))
        let agreed = status(.agreeing) { $0.duet.hasAgreed = true }
        #expect(DuetKeys.order(for: .enter, agreed) == .agree(false))
    }

    @Test func `in mid-song the key r asks first, and y begins a new take`() {
        let question = "Sing again from the beginning? This take stays as take 1, unfinished."
        let guest = JoinRequestID(number: 7)
        for phase in [DuetStatus<MemberID>.Phase.counting(1), .singing, .paused] {
            var keys = DuetKeys()
            #expect(keys.take(.character("y"), status(phase), []) == nil)
            #expect(keys.take(.character("r"), status(phase), []) == .ask("\(question) Keys: y sing again, n go on"))
            #expect(keys.take(.character("n"), status(phase), []) == .say("The song goes on."))
            #expect(keys.take(.character("y"), status(phase), []) == nil)
            _ = keys.take(.character("R"), status(phase), [])
            #expect(keys.take(.character("y"), status(phase), []) == .perform(.singAgain))
            // Another key closes the question.
            _ = keys.take(.character("r"), status(phase), [])
            #expect(keys.take(.character("m"), status(phase), []) == nil)
            #expect(keys.take(.character("y"), status(phase), []) == nil)
            // The answer may be meant for a guest who asks meanwhile.
            _ = keys.take(.character("r"), status(phase), [])
            #expect(keys.take(.character("y"), status(phase), [guest]) == .say(DuetSentences.questionChanged))
            // The song may be over before the answer.
            _ = keys.take(.character("r"), status(phase), [])
            #expect(keys.take(.character("y"), status(.ended), []) == .say(DuetSentences.takeIsOver))
        }
        var keys = DuetKeys()
        #expect(keys.take(.character("r"), status(.ended), []) == .perform(.singAgain))
        #expect(keys.take(.character("r"), status(.agreeing), []) == .ignore)
    }

    @Test func `the others are told who begins the song again, and that the take is kept`() {
        var notices = DuetNotices()
        _ = notices.notices(status(.singing), people())
        let again = status(.agreeing) { status in
            status.duet.attempt = 2
            status.duet.singers[0].hasBegun = true
        }
        let words = "Ben begins the song again. This take stays as take 1, unfinished."
        #expect(notices.notices(again, people()).first == .say(words))
        #expect(notices.notices(again, people()) == [])
        // The new take may be known before the one who began it.
        var late = DuetNotices()
        _ = late.notices(status(.paused), people())
        _ = late.notices(status(.agreeing) { $0.duet.attempt = 2 }, people())
        #expect(late.notices(again, people()) == [.say(words)])
        var after = DuetNotices()
        _ = after.notices(status(.ended), people())
        #expect(after.notices(again, people()).first == .say("Ben begins the song again."))
        // A newcomer has missed the earlier take.
        var newcomer = DuetNotices()
        #expect(!newcomer.notices(again, people()).contains(.say(words)))
    }

    @Test func `a guest is told of the song, asked, and told what the others do`() {
        var notices = DuetNotices()
        #expect(notices.notices(nil, people()) == [])
        #expect(
            notices.notices(status(.gettingSong), people()) == [
                .say("Song: Blue Moon (3:12)."), .say("Receiving the song from the host."),
            ])
        #expect(notices.notices(status(.agreeing), people(nil)) == [.say("Song received.")])
        #expect(
            notices.notices(status(.agreeing), people()) == [
                .ask("Delay 9 ms. Your voices will be recorded. Press Enter when you are ready.")
            ])
        #expect(notices.notices(status(.agreeing), people()) == [])
        let own = status(.agreeing) { $0.duet.hasAgreed = true }
        #expect(notices.notices(own, people()) == [.say("You agree. Waiting for Ben.")])
        let both = status(.agreeing) { ($0.duet.hasAgreed, $0.duet.singers[0].hasAgreed) = (true, true) }
        #expect(notices.notices(both, people()) == [.say("Ben agrees.")])
        #expect(
            notices.notices(status(.counting(3)), people()) == [.say("All agree. The song begins after the count-in.")])
        #expect(notices.notices(status(.singing), people()) == [.say("Sing.")])
        #expect(notices.notices(status(.paused), people()) == [.say("The song is paused.")])
        #expect(notices.notices(status(.counting(0.5)), people()) == [])
        #expect(notices.notices(status(.singing), people()) == [.say("Sing.")])
        #expect(
            notices.notices(status(.ended), people()) == [.say("The song is over. The voices are being exchanged.")])
    }

    @Test func `a second take is announced, and a long delay is said with a remedy`() {
        var notices = DuetNotices()
        let second = status(.agreeing) { $0.duet.attempt = 2 }
        let words =
            "Take 2. Delay 40 ms: too long to sing together (limit 25 ms). A cable helps. Your voices will be recorded."
        #expect(notices.notices(second, people(0.04)).last == .ask("\(words) Press Enter when you are ready."))
        // The one who pressed the key has agreed.
        var own = DuetNotices()
        _ = own.notices(status(.singing), people())
        let agreed = status(.agreeing) { ($0.duet.attempt, $0.duet.hasAgreed) = (2, true) }
        #expect(own.notices(agreed, people()) == [.say("Take 2. You agree. Waiting for Ben.")])
        var silent = DuetNotices()
        #expect(
            silent.notices(second, people(0.04, hasKeys: false)).suffix(2) == [
                .say(words), .warn("No terminal to agree on, so the song cannot start. Use --agree."),
            ])
    }

    @Test func `voices, the mix and failures are reported once`() {
        var notices = DuetNotices()
        _ = notices.notices(status(.ended), people())
        let here = status(.ended) { $0.presentStems = [ben] }
        #expect(notices.notices(here, people()) == [.say("Received Ben's voice.")])
        let mixed = status(.ended) {
            ($0.presentStems, $0.mixPath, $0.mixPaths) = ([ben], "/d/mix.m4a", ["/d/mix.m4a"])
        }
        #expect(
            notices.notices(mixed, people()) == [
                .say("Saved: /d/mix.m4a  Keys: Enter listen together, e change the mix, r sing again, q leave")
            ])
        #expect(notices.notices(mixed, people()) == [])
        var onStage = mixed
        onStage.mixPreset = MixPreset.all[3]
        #expect(
            notices.notices(onStage, people()) == [
                .say("Your mix is 'stage' now: dense voices, far apart, in a hall.")
            ])
        #expect(notices.notices(onStage, people()) == [])
        onStage.mixPreset = .standard
        _ = notices.notices(onStage, people())
        let listening = status(.listening) {
            ($0.presentStems, $0.mixPath, $0.mixPaths) = ([ben], "/d/mix.m4a", ["/d/mix.m4a"])
        }
        #expect(notices.notices(listening, people()) == [.say("The mix plays for all. Enter stops it for all.")])
        #expect(notices.notices(mixed, people()) == [])
        var alone = DuetNotices()
        _ = alone.notices(status(.ended), people())
        let without = status(.ended) { status in
            (status.mixPath, status.mixPaths) = ("/d/mix.m4a", ["/d/mix.m4a"])
            status.missingVoices = ["/d/mix.m4a": [ben]]
        }
        let words = "Saved: /d/mix.m4a (without Ben, whose voice did not arrive)"
        #expect(alone.notices(without, people(hasKeys: false)) == [.say(words)])
        // The mix of a take is the same after the next one has begun.
        var next = DuetNotices()
        _ = next.notices(status(.agreeing) { ($0.duet.attempt, $0.duet.hasAgreed) = (2, true) }, people())
        let early = status(.agreeing) { status in
            (status.duet.attempt, status.duet.hasAgreed, status.mixPaths) = (2, true, ["/d/mix.m4a"])
            status.missingVoices = ["/d/mix.m4a": [ben]]
        }
        #expect(next.notices(early, people(hasKeys: false)) == [.say(words)])
        #expect(next.notices(early, people(hasKeys: false)) == [])
        // The voice arrives after all, and the mix is made again.
        let complete = status(.agreeing) { status in
            (status.duet.attempt, status.duet.hasAgreed, status.mixPaths) = (2, true, ["/d/mix.m4a"])
            status.missingVoices = ["/d/mix.m4a": []]
        }
        #expect(next.notices(complete, people(hasKeys: false)) == [.say("Saved: /d/mix.m4a")])
        let failed = status(.ended) { status in
            (status.mixPath, status.mixPaths) = ("/d/mix.m4a", ["/d/mix.m4a"])
            status.missingVoices = ["/d/mix.m4a": [ben]]
            status.problems = [.noSound, .folder(path: "/d", code: 13)]
        }
        #expect(
            alone.notices(failed, people()) == [
                .warn("This room has no sound, so nobody can sing in it."),
                .warn("/d: Permission denied. Choose another with --folder."),
            ])
    }

    @Test func `one who comes in mid-song is told where the others are, and asked`() {
        var notices = DuetNotices()
        let first = status(.agreeing) { status in
            status.duet.phaseOfOthers = .findingTime
            status.duet.singers[0].hasAgreed = true
        }
        #expect(!notices.notices(first, people()).contains { if case .ask = $0 { true } else { false } })
        let running = status(.agreeing) { status in
            status.duet.phaseOfOthers = .singing
            status.duet.singers[0].hasAgreed = true
        }
        let words = "Ben is singing Blue Moon, 1:00 of 3:12."
        #expect(
            notices.notices(running, people()) == [
                .ask("\(words) Delay 9 ms. Your voice will be recorded. Press Enter to join in.")
            ])
        #expect(notices.notices(running, people()) == [])
        #expect(DuetSentences.line(running) == "♪ Blue Moon 1:00/3:12 Enter joins")
        #expect(DuetKeys.order(for: .enter, running) == .agree(true))
        let over = status(.agreeing) { $0.duet.phaseOfOthers = .ended }
        #expect(notices.notices(over, people()).first == .say("The song is over. Press r to sing it again."))
        #expect(!notices.notices(over, people()).contains(.say(DuetSentences.songOver)))
        #expect(DuetKeys.order(for: .enter, over) == nil && DuetKeys.answer(to: .enter, over) == DuetSentences.songOver)
        #expect(DuetKeys.order(for: .character("r"), over) == .singAgain)
        let paused = DuetSentences.inProgress(status(.agreeing) { $0.duet.phaseOfOthers = .paused }.duet, ["Al", "Bo"])
        #expect(paused == "Al and Bo have paused Blue Moon, 1:00 of 3:12.")
    }

    @Test func `a singer whose voice would be missing is warned after the agreement and at the count-in`() {
        let words = "You are muted, so the take lacks your voice. Unmute: m"
        var muted = people()
        muted.silence = .muted
        var notices = DuetNotices()
        #expect(!notices.notices(status(.agreeing), muted).contains(.warn(words)))
        let agreed = status(.agreeing) { $0.duet.hasAgreed = true }
        #expect(notices.notices(agreed, muted).last == .warn(words))
        #expect(notices.notices(agreed, muted) == [])
        let counting = status(.counting(2)) { $0.duet.hasAgreed = true }
        #expect(notices.notices(counting, muted).last == .warn(words))
        #expect(notices.notices(counting, muted) == [])
        // A singer may be silent in mid-song.
        let singing = status(.singing) { $0.duet.hasAgreed = true }
        #expect(notices.notices(singing, muted) == [.say("Sing.")])
        // One who joins in mid-song has no count-in.
        var late = DuetNotices()
        _ = late.notices(status(.agreeing), people())
        #expect(late.notices(singing, muted).last == .warn(words))
        // The microphone may fall silent, or push to talk may begin, after the agreement.
        var later = DuetNotices()
        _ = later.notices(agreed, people())
        var silent = people(hasKeys: false)
        silent.silence = .microphone
        guard case .warn(let microphone)? = later.notices(agreed, silent).last else {
            Issue.record("no warning")
            return
        }
        #expect(microphone.contains("Your microphone is silent") && microphone.contains("--microphone NAME"))
        #expect(DuetSentences.silence(.muted, hasKeys: false).hasSuffix("earshot call unmute"))
        #expect(DuetSentences.silence(.pushToTalk, hasKeys: true).hasSuffix("Turn it off: t"))
        var snapshot = LiveCallSnapshot(admission: .ask, sound: .waiting)
        #expect(DuetNotices.Silence(snapshot) == nil)
        snapshot.microphone = .digitalSilence
        #expect(DuetNotices.Silence(snapshot) == .microphone)
        snapshot.isMuted = true
        #expect(DuetNotices.Silence(snapshot) == .muted)
        snapshot.isPushToTalk = true
        #expect(DuetNotices.Silence(snapshot) == .pushToTalk)
    }

    @Test func `a singer who leaves is told which files are awaited`() {
        func words(_ awaited: Set<MemberID>, _ receivers: Set<MemberID>) -> String {
            let status = status(.ended) { ($0.awaitedSingers, $0.receivers) = (awaited, receivers) }
            return DuetSentences.pending(status, name: people().name)
        }
        #expect(words([], []) == "Mixing.")
        #expect(words([ben], []) == "Waiting for the voice of Ben.")
        #expect(words([], [ben]) == "Sending your voice to Ben.")
        #expect(words([ben], [ben]) == "Waiting for the voice of Ben. Sending yours to Ben.")
    }

    @Test func `a singer whose others leave after the song is told what the keys do`() {
        var notices = DuetNotices()
        _ = notices.notices(status(.singing), people())
        #expect(notices.notices(status(.singing) { $0.duet.singers = [] }, people()) == [])
        _ = notices.notices(status(.ended) { $0.mixPath = "/d/mix.m4a" }, people())
        // Enter would stop a mix that plays.
        _ = notices.notices(status(.listening), people())
        #expect(notices.notices(status(.listening) { $0.duet.singers = [] }, people()) == [])
        let alone = status(.ended) { ($0.mixPath, $0.duet.singers) = ("/d/mix.m4a", []) }
        #expect(
            notices.notices(alone, people()) == [
                .say("Nobody else is here now. Keys: Enter listen to the mix, q leave")
            ])
        #expect(notices.notices(alone, people()) == [])
    }

    @Test func `a beat is named, and its mix is said to be without it`() {
        var notices = DuetNotices()
        let beat = SongFile.describe(Beat(tempo: 92.5, beatsPerBar: 3), duration: 300)
        #expect(
            notices.notices(status(.agreeing) { $0.duet.song = beat }, people(nil)) == [
                .say("Beat: 92.5 a minute, 3 in a bar (5:00).")
            ])
        _ = notices.notices(status(.ended) { $0.duet.song = beat }, people())
        let mixed = status(.ended) {
            $0.duet.song = beat
            ($0.presentStems, $0.mixPath, $0.mixPaths) = ([ben], "/d/mix.m4a", ["/d/mix.m4a"])
        }
        #expect(
            notices.notices(mixed, people(hasKeys: false)).last
                == .say("Saved: /d/mix.m4a  The mix has the voices without the beat."))
        #expect(DuetSentences.line(status(.singing) { $0.duet.song = beat }) == "♪ Beat 92.5 1:00/5:00")
    }

    @Test func `the status line shows what the song does`() {
        let lines: [(DuetStatus<MemberID>.Phase, String?)] = [
            (.noSong, nil), (.agreeing, "♪ Blue Moon Enter agrees"), (.counting(2.2), "♪ begins in 3  Blue Moon"),
            (.singing, "♪ Blue Moon 1:00/3:12"), (.paused, "‖ Blue Moon 1:00/3:12"), (.ended, "♪ Blue Moon over"),
        ]
        for (phase, line) in lines { #expect(DuetSentences.line(status(phase)) == line) }
        #expect(DuetSentences.line(status(.gettingSong) { $0.arrivedPart = 0.45 }) == "♪ Blue Moon arrives 45 %")
        #expect(DuetSentences.line(status(.ended) { $0.isBusy = true }) == "♪ Blue Moon mixing")
        #expect(DuetSentences.line(status(.agreeing) { $0.duet.singers = [] }) == "♪ Blue Moon")
    }
}

/// The keys and sentences of a duet that begins or ends otherwise than usual.
@Suite struct DuetExceptionTests {
    private let ben = MemberID(2)!
    private let song = DuetSong(name: "A very long name of a song.ogg", byteCount: 5, hash: "", duration: 192)

    private func status(_ phase: DuetStatus<MemberID>.Phase, _ singers: [DuetStatus<MemberID>.Singer] = [])
        -> LiveDuetStatus
    {
        var duet = DuetStatus<MemberID>()
        (duet.phase, duet.song, duet.singers) = (phase, song, singers)
        return LiveDuetStatus(duet: duet)
    }

    @Test func `a key that does nothing has an answer`() {
        let alone = status(.agreeing)
        #expect(DuetKeys.order(for: .enter, alone) == nil)
        #expect(DuetKeys.answer(to: .enter, alone) == "Nobody else is here yet.")
        #expect(DuetKeys.answer(to: .enter, status(.agreeing, [.init(member: ben)])) == nil)
        for key in [Key.character("p"), .left, .right] {
            #expect(DuetKeys.order(for: key, status(.listening)) == nil)
            #expect(DuetKeys.answer(to: key, status(.listening))?.contains("Enter stops it for all.") == true)
            #expect(DuetKeys.answer(to: key, status(.singing)) == nil)
        }
        #expect(DuetKeys.help.contains("or stop it for all"))
        // A singer who has agreed, and whose guest has left, can withdraw.
        var agreed = status(.agreeing)
        agreed.duet.hasAgreed = true
        #expect(DuetKeys.order(for: .enter, agreed) == .agree(false))
        var left = status(.agreeing, [.init(member: ben)])
        left.duet.hasLeft = true
        #expect(DuetKeys.order(for: .character("r"), left) == .singAgain)
    }

    @Test func `the others are told once of a singer who cannot record`() {
        var notices = DuetNotices()
        let people = DuetNotices.People(name: { _ in "Ben" }, delay: 0.009, hasKeys: true)
        let before = status(.singing, [.init(member: ben, hasAgreed: true)])
        let after = status(.singing, [.init(member: ben, cannotRecord: true)])
        _ = notices.notices(before, people)
        let words = "Ben cannot record this take and has left it. Press r for a new take."
        #expect(notices.notices(after, people) == [.warn(words)])
        #expect(notices.notices(after, people) == [])
    }

    @Test func `a folder that is full or cannot be written is named with a remedy`() {
        #expect(
            DuetSentences.refused(.folder(path: "/d", code: 13))
                == "/d: Permission denied. Choose another with --folder."
        )
        #expect(
            DuetSentences.refused(.noSpace(path: "/d", needed: 134_500_000, free: 12_000_000))
                == "/d: a take needs 134 MB, but 12 MB are free. Delete files, or choose another with --folder.")
    }

    @Test func `the end says what was saved`() {
        #expect(DuetSentences.withoutMix([], hasBegun: false) == [])
        #expect(DuetSentences.withoutMix([], hasBegun: true) == ["Nothing was saved."])
        #expect(DuetSentences.withoutMix([.nothing], hasBegun: true) == ["Nothing was saved."])
        #expect(
            DuetSentences.withoutMix(
                [.mix(path: "/m"), .voices(folder: "/v"), .recording(folder: "/r"), .nothing], hasBegun: true) == [
                    "No mix was saved. The voices are in /v.", "No mix was saved. Your voice is in /r.",
                    "Nothing of another take was saved.",
                ])
    }

    @Test func `a narrow terminal shows the seconds until the song`() throws {
        let duet = try #require(DuetSentences.line(status(.counting(2.2))))
        var line = RoomStatusLine(elapsed: 12, isMuted: true, isRecording: true, duet: duet)
        line.others = [.init(name: "Bartholomew"), .init(name: "Clementine")]
        let text = line.text(width: 40, hasColour: false)
        #expect(text.contains("begins in 3") && text.count < 40, "\(text)")
    }
}

/// The choice of a song by a few letters.
@Suite struct SongChoiceTests {
    @Test func `letters, arrows and Enter choose a song`() {
        var choice = SongChoice(["b/Blue Moon.ogg", "a/Moon River.mp3", "Ö 10.wav", "Ö 9.wav"])
        #expect(choice.songs == ["a/Moon River.mp3", "b/Blue Moon.ogg", "Ö 9.wav", "Ö 10.wav"])
        #expect(choice.line == "Song: ▏ a/Moon River.mp3  1 of 4, ↑ ↓")
        for letter in "moon" { #expect(choice.take(.character(letter)) == nil) }
        #expect(choice.matches.count == 2 && choice.line == "Song: moon▏ a/Moon River.mp3  1 of 2, ↑ ↓")
        #expect(choice.take(.down) == nil && choice.take(.down) == nil)
        #expect(choice.line == "Song: moon▏ b/Blue Moon.ogg  2 of 2, ↑ ↓")
        for letter in " blue" { #expect(choice.take(.character(letter)) == nil) }
        #expect(choice.line == "Song: moon blue▏ b/Blue Moon.ogg")
        #expect(choice.take(.enter) == .chosen("b/Blue Moon.ogg"))
        #expect(choice.take(.character("x")) == nil && choice.line == "Song: moon bluex▏ no such song")
        #expect(choice.take(.enter) == nil && choice.take(.backspace) == nil)
        #expect(choice.take(.enter) == .chosen("b/Blue Moon.ogg") && choice.take(.escape) == .cancelled)
        #expect(choice.take(.down) == nil && choice.take(.clear) == nil)
        #expect(choice.line == "Song: ▏ a/Moon River.mp3  1 of 4, ↑ ↓")
        choice = SongChoice([])
        #expect(choice.take(.down) == nil && choice.take(.enter) == nil)
    }
}
