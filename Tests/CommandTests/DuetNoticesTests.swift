// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import earshot

/// The sentences of a duet, without a terminal.
@Suite struct DuetNoticesTests {
    let ben = DuetExample.ben

    func people(_ delay: Double? = 0.009, hasKeys: Bool = true) -> DuetNotices.People {
        DuetNotices.People(name: { $0 == ben ? "Ben" : "?" }, delay: delay, hasKeys: hasKeys)
    }

    @Test func `the others are told who begins the song again, and that the take is kept`() {
        var notices = DuetNotices()
        _ = notices.notices(DuetExample.status(.singing), people())
        let again = DuetExample.status(.agreeing) { status in
            status.duet.attempt = 2
            status.duet.singers[0].hasBegun = true
        }
        let words = "Ben begins the song again. This take stays as take 1, unfinished."
        #expect(notices.notices(again, people()).first == .say(words))
        #expect(notices.notices(again, people()) == [])
        // The new take may be known before the one who began it.
        var late = DuetNotices()
        _ = late.notices(DuetExample.status(.paused), people())
        _ = late.notices(DuetExample.status(.agreeing) { $0.duet.attempt = 2 }, people())
        #expect(late.notices(again, people()) == [.say(words)])
        var after = DuetNotices()
        _ = after.notices(DuetExample.status(.ended), people())
        #expect(after.notices(again, people()).first == .say("Ben begins the song again."))
        // A newcomer has missed the earlier take.
        var newcomer = DuetNotices()
        #expect(!newcomer.notices(again, people()).contains(.say(words)))
    }

    @Test func `a guest is told of the song, asked, and told what the others do`() {
        var notices = DuetNotices()
        #expect(notices.notices(nil, people()) == [])
        #expect(
            notices.notices(DuetExample.status(.gettingSong), people()) == [
                .say("Song: Blue Moon (3:12)."), .say("Receiving the song from the host."),
            ])
        #expect(notices.notices(DuetExample.status(.agreeing), people(nil)) == [.say("Song received.")])
        #expect(
            notices.notices(DuetExample.status(.agreeing), people()) == [
                .ask("Delay 9 ms. Your voices will be recorded. Press Enter when you are ready.")
            ])
        #expect(notices.notices(DuetExample.status(.agreeing), people()) == [])
        let own = DuetExample.status(.agreeing) { $0.duet.hasAgreed = true }
        #expect(notices.notices(own, people()) == [.say("You agree. Waiting for Ben.")])
        let both = DuetExample.status(.agreeing) { ($0.duet.hasAgreed, $0.duet.singers[0].hasAgreed) = (true, true) }
        #expect(notices.notices(both, people()) == [.say("Ben agrees.")])
        #expect(
            notices.notices(DuetExample.status(.counting(3)), people()) == [
                .say("All agree. The song begins after the count-in.")
            ])
        #expect(notices.notices(DuetExample.status(.singing), people()) == [.say("Sing.")])
        #expect(notices.notices(DuetExample.status(.paused), people()) == [.say("The song is paused.")])
        func changed(_ revision: UInt32, _ phase: DuetStatus<MemberID>.Phase) -> LiveDuetStatus {
            DuetExample.status(phase) {
                ($0.duet.revision, $0.duet.changer) = (revision, $0.duet.singers[0].member)
                $0.duet.changedPosition = 90
            }
        }
        #expect(notices.notices(changed(1, .paused), people()) == [.say("Ben has moved the song to 1:30.")])
        #expect(notices.notices(changed(2, .singing), people()) == [.say("Ben has resumed the song.")])
        #expect(notices.notices(changed(3, .paused), people()) == [.say("Ben has paused the song.")])
        #expect(notices.notices(DuetExample.status(.counting(0.5)), people()) == [])
        #expect(notices.notices(DuetExample.status(.singing), people()) == [.say("Sing.")])
        #expect(
            notices.notices(DuetExample.status(.ended), people()) == [
                .say("The song is over. The voices are being exchanged.")
            ])
    }

    @Test func `a singer whose device's delay is unknown is told once before the song, and can sing`() {
        let device = CalibratedDevice(
            system: "jack", microphone: "m", output: "o", sampleRate: 44_100, blockFrameCount: 256)
        for (knowledge, reason) in [
            (DelayKnowledge.reported, "was not measured yet"),
            (.stale(device), "was measured at 256-frame blocks and 44.1 kHz only"),
            (.measured(CalibratedDelay(correction: 0.01, uncertainty: 0.004)), "is known to 4 ms only"),
        ] {
            var notices = DuetNotices()
            var singer = people()
            singer.ownDelay = knowledge
            let words =
                "You can sing, but your voice may be some milliseconds off in the mix: the delay of your sound device \(reason). "
                + "Measure it after the duet: earshot calibrate"
            let first = notices.notices(DuetExample.status(.agreeing), singer)
            #expect(first.dropLast().last == .say(words))
            if case .ask? = first.last {} else { Issue.record("no question: \(first)") }
            let second = DuetExample.status(.agreeing) { $0.duet.attempt = 2 }
            #expect(!notices.notices(second, singer).contains(.say(words)))
        }
        var notices = DuetNotices()
        var singer = people()
        singer.ownDelay = .measured(CalibratedDelay(correction: 0.01, uncertainty: 0.002))
        let found = notices.notices(DuetExample.status(.agreeing), singer)
        #expect(!found.contains { if case .say(let words) = $0 { words.contains("calibrate") } else { false } })
    }

    @Test func `a second take is announced, and a long delay is said with a remedy`() {
        var notices = DuetNotices()
        let second = DuetExample.status(.agreeing) { $0.duet.attempt = 2 }
        let words =
            "Take 2. Delay 40 ms: too long to sing together (limit 25 ms). A cable helps. Your voices will be recorded."
        #expect(
            notices.notices(second, people(0.04)).last
                == .ask(
                    words.replacing("A cable", with: "Tab lets one lead. A cable")
                        + " Press Enter when you are ready."))
        // The one who pressed the key has agreed.
        var own = DuetNotices()
        _ = own.notices(DuetExample.status(.singing), people())
        let agreed = DuetExample.status(.agreeing) { ($0.duet.attempt, $0.duet.hasAgreed) = (2, true) }
        #expect(own.notices(agreed, people()) == [.say("Take 2. You agree. Waiting for Ben.")])
        var silent = DuetNotices()
        #expect(
            silent.notices(second, people(0.04, hasKeys: false)).suffix(2) == [
                .say(words), .warn("No terminal to agree on, so the song cannot start. Use --agree."),
            ])
    }

    @Test func `who has withdrawn as the song began is asked to join in`() {
        var notices = DuetNotices()
        _ = notices.notices(DuetExample.status(.agreeing), people())
        let others = DuetExample.status(.agreeing) {
            $0.duet.phaseOfOthers = .singing
            $0.duet.singers[0].hasAgreed = true
        }
        #expect(
            notices.notices(others, people()).first
                == .ask(
                    "Ben is singing Blue Moon, 1:00 of 3:12. Delay 9 ms. Your voice will be recorded. Press Enter to "
                        + "join in."))
    }

    @Test func `voices, the mix and failures are reported once`() {
        var notices = DuetNotices()
        _ = notices.notices(DuetExample.status(.ended), people())
        let here = DuetExample.status(.ended) { $0.presentStems = [ben] }
        #expect(notices.notices(here, people()) == [.say("Received Ben's voice.")])
        let mixed = DuetExample.status(.ended) {
            ($0.presentStems, $0.mixPath, $0.mixPaths) = ([ben], "/d/mix.m4a", ["/d/mix.m4a"])
        }
        #expect(
            notices.notices(mixed, people()) == [
                .say(
                    "Saved: /d/mix.m4a\nKeys: Enter listen together, e change the mix, arrows balance it, r sing again, q leave"
                )
            ])
        #expect(notices.notices(mixed, people()) == [])
        var balanced = mixed
        balanced.balance.voices = [.init(name: "song", isSong: true), .init(name: "Ben", decibels: 3)]
        #expect(notices.notices(balanced, people()) == [])
        balanced.mixBalance = balanced.balance
        #expect(notices.notices(balanced, people()) == [.say("Your mix has Ben +3 dB now.")])
        #expect(notices.notices(mixed, people()) == [])
        #expect(
            DuetSentences.line(balanced, selected: balanced.balance.voices[1]) == "♪ Blue Moon mix: Ben +3 dB")
        #expect(DuetSentences.line(balanced, selected: balanced.balance.voices[0]) == "♪ Blue Moon mix: song 0 dB")
        var onStage = mixed
        onStage.mixPreset = MixPreset.all[3]
        #expect(
            notices.notices(onStage, people()) == [
                .say("Your mix is 'stage' now: dense voices, far apart, in a hall.")
            ])
        #expect(notices.notices(onStage, people()) == [])
        onStage.mixPreset = .standard
        _ = notices.notices(onStage, people())
        let listening = DuetExample.status(.listening) {
            ($0.presentStems, $0.mixPath, $0.mixPaths) = ([ben], "/d/mix.m4a", ["/d/mix.m4a"])
        }
        #expect(notices.notices(listening, people()) == [.say("The mix plays for all. Enter stops it for all.")])
        #expect(notices.notices(mixed, people()) == [])
        var alone = DuetNotices()
        _ = alone.notices(DuetExample.status(.ended), people())
        let without = DuetExample.status(.ended) { status in
            (status.mixPath, status.mixPaths) = ("/d/mix.m4a", ["/d/mix.m4a"])
            status.missingVoices = ["/d/mix.m4a": [ben]]
        }
        let words = "Saved: /d/mix.m4a (without Ben, whose voice did not arrive)"
        #expect(alone.notices(without, people(hasKeys: false)) == [.say(words)])
        // The mix of a take is the same after the next one has begun.
        var next = DuetNotices()
        _ = next.notices(DuetExample.status(.agreeing) { ($0.duet.attempt, $0.duet.hasAgreed) = (2, true) }, people())
        let early = DuetExample.status(.agreeing) { status in
            (status.duet.attempt, status.duet.hasAgreed, status.mixPaths) = (2, true, ["/d/mix.m4a"])
            status.missingVoices = ["/d/mix.m4a": [ben]]
        }
        #expect(next.notices(early, people(hasKeys: false)) == [.say(words)])
        #expect(next.notices(early, people(hasKeys: false)) == [])
        // The voice arrives after all, and the mix is made again.
        let complete = DuetExample.status(.agreeing) { status in
            (status.duet.attempt, status.duet.hasAgreed, status.mixPaths) = (2, true, ["/d/mix.m4a"])
            status.missingVoices = ["/d/mix.m4a": []]
        }
        #expect(next.notices(complete, people(hasKeys: false)) == [.say("Saved: /d/mix.m4a")])
        let failed = DuetExample.status(.ended) { status in
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
        let first = DuetExample.status(.agreeing) { status in
            status.duet.phaseOfOthers = .findingTime
            status.duet.singers[0].hasAgreed = true
        }
        #expect(!notices.notices(first, people()).contains { if case .ask = $0 { true } else { false } })
        let running = DuetExample.status(.agreeing) { status in
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
        let over = DuetExample.status(.agreeing) { $0.duet.phaseOfOthers = .ended }
        #expect(notices.notices(over, people()).first == .say("The song is over. Press r to sing it again."))
        #expect(!notices.notices(over, people()).contains(.say(DuetSentences.songOver)))
        #expect(DuetKeys.order(for: .enter, over) == nil && DuetKeys.answer(to: .enter, over) == DuetSentences.songOver)
        #expect(DuetKeys.order(for: .character("r"), over) == .singAgain)
        let paused = DuetSentences.inProgress(
            DuetExample.status(.agreeing) { $0.duet.phaseOfOthers = .paused }.duet, ["Al", "Bo"])
        #expect(paused == "Al and Bo have paused Blue Moon, 1:00 of 3:12.")
    }

    @Test func `a singer whose voice would be missing is warned after the agreement and at the count-in`() {
        let words = "You are muted, so the take lacks your voice. Unmute: m"
        var muted = people()
        muted.silence = .muted
        var notices = DuetNotices()
        #expect(!notices.notices(DuetExample.status(.agreeing), muted).contains(.warn(words)))
        let agreed = DuetExample.status(.agreeing) { $0.duet.hasAgreed = true }
        #expect(notices.notices(agreed, muted).last == .warn(words))
        #expect(notices.notices(agreed, muted) == [])
        let counting = DuetExample.status(.counting(2)) { $0.duet.hasAgreed = true }
        #expect(notices.notices(counting, muted).last == .warn(words))
        #expect(notices.notices(counting, muted) == [])
        // A singer may be silent in mid-song.
        let singing = DuetExample.status(.singing) { $0.duet.hasAgreed = true }
        #expect(notices.notices(singing, muted) == [.say("Sing.")])
        // One who joins in mid-song has no count-in.
        var late = DuetNotices()
        _ = late.notices(DuetExample.status(.agreeing), people())
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
            let status = DuetExample.status(.ended) { ($0.awaitedSingers, $0.receivers) = (awaited, receivers) }
            return DuetSentences.pending(status, name: people().name)
        }
        #expect(words([], []) == "Mixing.")
        #expect(words([ben], []) == "Waiting for the voice of Ben.")
        #expect(words([], [ben]) == "Sending your voice to Ben.")
        #expect(words([ben], [ben]) == "Waiting for the voice of Ben. Sending yours to Ben.")
    }

    @Test func `a singer whose others leave after the song is told what the keys do`() {
        var notices = DuetNotices()
        _ = notices.notices(DuetExample.status(.singing), people())
        #expect(notices.notices(DuetExample.status(.singing) { $0.duet.singers = [] }, people()) == [])
        _ = notices.notices(DuetExample.status(.ended) { $0.mixPath = "/d/mix.m4a" }, people())
        // Enter would stop a mix that plays.
        _ = notices.notices(DuetExample.status(.listening), people())
        #expect(notices.notices(DuetExample.status(.listening) { $0.duet.singers = [] }, people()) == [])
        let alone = DuetExample.status(.ended) { ($0.mixPath, $0.duet.singers) = ("/d/mix.m4a", []) }
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
            notices.notices(DuetExample.status(.agreeing) { $0.duet.song = beat }, people(nil)) == [
                .say("Beat: 92.5 a minute, 3 in a bar (5:00).")
            ])
        _ = notices.notices(DuetExample.status(.ended) { $0.duet.song = beat }, people())
        let mixed = DuetExample.status(.ended) {
            $0.duet.song = beat
            ($0.presentStems, $0.mixPath, $0.mixPaths) = ([ben], "/d/mix.m4a", ["/d/mix.m4a"])
        }
        #expect(
            notices.notices(mixed, people(hasKeys: false)).last
                == .say("Saved: /d/mix.m4a  The mix has the voices without the beat."))
        #expect(DuetSentences.line(DuetExample.status(.singing) { $0.duet.song = beat }) == "♪ Beat 92.5 1:00/5:00")
    }

    @Test func `the status line shows what the song does`() {
        let lines: [(DuetStatus<MemberID>.Phase, String?)] = [
            (.noSong, nil), (.agreeing, "♪ Blue Moon Enter agrees"), (.counting(2.2), "♪ begins in 3  Blue Moon"),
            (.singing, "♪ Blue Moon 1:00/3:12"), (.paused, "‖ Blue Moon 1:00/3:12"), (.ended, "♪ Blue Moon over"),
        ]
        for (phase, line) in lines { #expect(DuetSentences.line(DuetExample.status(phase)) == line) }
        #expect(
            DuetSentences.line(DuetExample.status(.gettingSong) { $0.arrivedPart = 0.45 }) == "♪ Blue Moon arrives 45 %"
        )
        #expect(DuetSentences.line(DuetExample.status(.ended) { $0.isBusy = true }) == "♪ Blue Moon mixing")
        #expect(DuetSentences.line(DuetExample.status(.agreeing) { $0.duet.singers = [] }) == "♪ Blue Moon")
    }
}

/// The sentences of a duet that begins or ends otherwise than usual.
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
        // A singer needs the own meter most.
        line.others = [.init(name: "Bernd Müller", peak: 0.1, delay: 0.018, isConnected: true)]
        line.isMuted = false
        let own = line.text(width: 90, hasColour: false)
        #expect(own.hasSuffix("me [----------]  ♪ begins in 3  A very long nam…  Bernd Müller 18 ms"), "\(own)")
    }
}
