// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotDuet
import EarshotLiveCall
import EarshotRooms

/// Chooses the changes of a duet that a terminal prints.
struct DuetNotices {
    enum Notice: Equatable {
        case say(String)
        case warn(String)
        /// The user is asked for something.
        case ask(String)
    }

    /// The people of the duet.
    struct People {
        /// Returns a singer's name.
        var name: (MemberID) -> String
        /// The longest delay from a singer, in seconds; nil while unknown.
        var delay: Double?
        /// True if the user can press keys.
        var hasKeys: Bool
        /// True if the user can choose the next song.
        var isHost = false
        /// True if the local singer agrees without being asked.
        var agreesByItself = false
        /// The reason that the local voice would be missing; nil if the microphone is heard.
        var silence: Silence?
        /// The knowledge of the delay of the local device; nil if there is nothing to know.
        var ownDelay: DelayKnowledge?
    }

    /// The reason that the local voice is silent.
    enum Silence {
        case muted, pushToTalk, microphone

        init?(_ snapshot: LiveCallSnapshot) {
            switch snapshot.microphone {
            case _ where snapshot.isPushToTalk: self = .pushToTalk
            case _ where snapshot.isMuted: self = .muted
            case .digitalSilence, .silent: self = .microphone
            case .fine, .clipping: return nil
            }
        }
    }

    /// A phase without its numbers.
    private enum Step { case none, getting, agreeing, time, counting, singing, paused, listening, ended }

    private var last: LiveDuetStatus?
    private var lastStep = Step.none
    /// The reason of silence that was reported for the present agreement; nil without one.
    private var reportedSilence: Silence?
    /// The attempt, and its mode, for which the user was asked, and true if others sang it already.
    private var asked: (attempt: UInt32, mode: DuetMode<MemberID>, isInProgress: Bool)?
    /// True if others were there after the user was told that nobody is.
    private var hadSingers = false
    /// The attempt of others whose end was reported.
    private var missedAttempt: UInt32?
    /// The last attempt that ended in mid-song.
    private var unfinishedAttempt: UInt32?
    /// The singers whose agreement another mode took back, until their messages say so.
    private var withdrawn: Set<MemberID> = []
    /// True once the user knows that the own delay is not known.
    private var hasReportedDelay = false

    /// Returns the sentences about the changes since the last call.
    mutating func notices(_ status: LiveDuetStatus?, _ people: People) -> [Notice] {
        guard let status else { return [] }
        let old = last
        let step = Self.step(status.duet.phase)
        defer { (last, lastStep) = (status, step) }
        var notices = status.problems.dropFirst(old?.problems.count ?? 0).map {
            Notice.warn(DuetSentences.problem($0, name: people.name))
        }
        if let song = status.duet.song, song != old?.duet.song {
            notices.append(.say(DuetSentences.song(song)))
            (asked, missedAttempt) = (nil, nil)
        }
        notices += Self.rooms(status, old, people)
        notices += Self.guide(status, old)
        notices += parts(status, old, people)
        notices += beginnings(status, old, people)
        notices += Self.departures(status, old, people)
        if step != lastStep {
            let singer = status.duet.sings ? nil : status.duet.mode?.leader.map(people.name)
            notices += Self.changed(
                to: step, from: lastStep, by: status.duet.changer.map(people.name), listeningTo: singer)
        } else {
            notices += Self.moved(status.duet, old?.duet, people)
        }
        notices += ownDelay(status, step, people)
        notices += agreements(status, step, people)
        notices += silence(status, step, people)
        notices += status.duet.singers.filter { singer in
            singer.cannotRecord
                && !(old?.duet.attempt == status.duet.attempt
                    && old?.duet.singers.contains { $0.member == singer.member && $0.cannotRecord } == true)
        }.map { .warn(DuetSentences.cannotRecord(people.name($0.member))) }
        notices += files(status, old, people)
        if !status.duet.singers.isEmpty { hadSingers = true }
        if step == .ended, status.duet.singers.isEmpty, hadSingers {
            hadSingers = false
            if people.hasKeys { notices.append(.say(DuetSentences.alone(hasMix: status.mixPath != nil))) }
        }
        return notices
    }

    /// Reports the arrival of the guide vocal, and its level.
    private static func guide(_ status: LiveDuetStatus, _ old: LiveDuetStatus?) -> [Notice] {
        guard let guide = status.guide, let old, old.duet.song == status.duet.song, let oldGuide = old.guide else {
            return []
        }
        let arrival = guide.isHere && !oldGuide.isHere ? [Notice.say(DuetSentences.guideIsHere)] : []
        return arrival + (guide.gain == oldGuide.gain ? [] : [.say(DuetSentences.guide(Double(guide.gain)))])
    }

    /// Reports a change of the parts, and a part that is known only after the question before the first take.
    private func parts(_ status: LiveDuetStatus, _ old: LiveDuetStatus?, _ people: People) -> [Notice] {
        guard let old, old.duet.part != nil else { return [] }
        let isAsked = asked != nil
        let isChanged = status.duet.singers.contains { singer in
            let part = old.duet.singers.first { $0.member == singer.member }?.part
            return (part != nil || isAsked) && part != singer.part
        }
        guard isChanged || status.duet.part != old.duet.part else { return [] }
        return [.say(DuetSentences.parts(status.duet, name: people.name))]
    }

    /// Reports the singers who begin the song again.
    private mutating func beginnings(_ status: LiveDuetStatus, _ old: LiveDuetStatus?, _ people: People) -> [Notice] {
        guard let old, old.duet.song == status.duet.song else { return [] }
        let isNew = old.duet.attempt != status.duet.attempt
        if isNew, old.duet.phase.isSong { unfinishedAttempt = old.duet.attempt }
        return status.duet.singers.filter { singer in
            singer.hasBegun && (isNew || old.duet.singers.first { $0.member == singer.member }?.hasBegun == false)
        }.map { singer in
            let unfinished = unfinishedAttempt.flatMap {
                $0 &+ 1 == status.duet.attempt ? status.duet.take &- 1 : nil
            }
            let name = people.name(singer.member)
            if isNew, status.duet.isInTurn, status.duet.mode != old.duet.mode {
                return .say(DuetSentences.nextTurn(name))
            }
            return .say(DuetSentences.begins(name, unfinished: unfinished))
        }
    }

    /// Reports the singers who are in the same room, or no longer.
    private static func rooms(_ status: LiveDuetStatus, _ old: LiveDuetStatus?, _ people: People) -> [Notice] {
        let nearby = status.duet.singers.filter(\.isNearby).map(\.member)
        let before = old?.duet.singers.filter(\.isNearby).map(\.member) ?? []
        var notices = nearby.filter { !before.contains($0) }.map {
            Notice.say(
                DuetSentences.nearby(people.name($0), isOnly: nearby.count == 1, hasKeys: people.hasKeys))
        }
        notices += status.duet.singers.filter { !$0.isNearby && before.contains($0.member) }.map {
            .say(DuetSentences.away(people.name($0.member)))
        }
        if status.isSongElsewhere != (old?.isSongElsewhere ?? false) {
            notices.append(.say(DuetSentences.song(isElsewhere: status.isSongElsewhere)))
        }
        return notices
    }

    /// Reports the singers who leave the attempt in mid-song.
    private static func departures(
        _ status: LiveDuetStatus, _ old: LiveDuetStatus?, _ people: People
    ) -> [Notice] {
        guard let old, old.duet.attempt == status.duet.attempt, old.duet.phase.isSong, status.duet.phase.isSong else {
            return []
        }
        let agreed = old.duet.singers.filter(\.hasAgreed).map(\.member)
        return status.duet.singers.filter { !$0.hasAgreed && !$0.cannotRecord && agreed.contains($0.member) }.map {
            .say(DuetSentences.leftTake(people.name($0.member)))
        }
    }

    private static func step(_ phase: DuetStatus<MemberID>.Phase) -> Step {
        switch phase {
        case .noSong: .none
        case .gettingSong: .getting
        case .agreeing: .agreeing
        case .findingTime: .time
        case .counting: .counting
        case .singing: .singing
        case .paused: .paused
        case .listening: .listening
        case .ended: .ended
        }
    }

    /// Reports that another singer has moved the song.
    private static func moved(
        _ duet: DuetStatus<MemberID>, _ old: DuetStatus<MemberID>?, _ people: People
    ) -> [Notice] {
        guard let old, let changer = duet.changer, duet.revision != old.revision, duet.attempt == old.attempt,
            duet.phase.isSong, duet.song == old.song
        else { return [] }
        return [.say(DuetSentences.moved(by: people.name(changer), to: duet.changedPosition))]
    }

    /// - Parameters:
    ///   - changer: the name of another singer who made the change; nil for the local one.
    ///   - singer: the name of the one who sings alone; nil if the local singer sings.
    private static func changed(
        to step: Step, from old: Step, by changer: String?, listeningTo singer: String?
    ) -> [Notice] {
        switch (old, step) {
        case (_, .getting): [.say(DuetSentences.songArrives)]
        case (.getting, .agreeing): [.say(DuetSentences.songIsHere)]
        case (.paused, .singing): [.say(DuetSentences.resumed(by: changer))]
        case (.paused, .counting): changer.map { [.say(DuetSentences.resumed(by: $0))] } ?? []
        case (.singing, .counting): changer.map { [.say(DuetSentences.moved(by: $0, to: 0))] } ?? []
        case (_, .counting) where old != .paused && old != .singing: [.say(DuetSentences.counting)]
        case (_, .singing): [.say(singer.map(DuetSentences.listening(to:)) ?? DuetSentences.singing)]
        case (_, .paused): [.say(DuetSentences.paused(by: changer))]
        case (_, .listening): [.say(DuetSentences.listening)]
        case (.listening, .ended): []
        case (_, .ended): [.say(DuetSentences.ended)]
        default: []
        }
    }

    /// Asks the user to agree as soon as another singer is present. Reports the agreements of others.
    private mutating func agreements(_ status: LiveDuetStatus, _ step: Step, _ people: People) -> [Notice] {
        let duet = status.duet
        guard step == .agreeing, !duet.singers.isEmpty else { return [] }
        var notices: [Notice] = []
        if duet.phaseOfOthers?.isOver == true {
            if missedAttempt != duet.attempt { notices.append(.say(DuetSentences.songOver)) }
            missedAttempt = duet.attempt
        } else if let mode = duet.mode, case let now = (duet.attempt, mode, duet.phaseOfOthers != nil),
            asked.map({ $0 != now }) ?? true, people.delay != nil, duet.phaseOfOthers != .findingTime
        {
            notices += question(duet, mode, people)
            asked = now
        }
        // Another mode takes the agreements back, which is not a singer's wish.
        let isSameMode = last?.duet.mode == nil || last?.duet.mode == duet.mode
        let isSameAttempt = last?.duet.attempt == duet.attempt
        if !isSameMode, isSameAttempt { withdrawn = Set(last?.duet.singers.filter(\.hasAgreed).map(\.member) ?? []) }
        for singer in duet.singers {
            let old = isSameAttempt ? last?.duet.singers.first { $0.member == singer.member } : nil
            guard singer.hasAgreed != (old?.hasAgreed ?? false), !singer.cannotRecord else { continue }
            if withdrawn.remove(singer.member) != nil, !singer.hasAgreed { continue }
            notices.append(.say(DuetSentences.agrees(people.name(singer.member), singer.hasAgreed)))
        }
        let names = duet.singers.filter { !$0.hasAgreed }.map { people.name($0.member) }
        if let last, last.duet.attempt != duet.attempt, duet.hasAgreed {
            let turn = duet.sings ? nil : duet.mode?.leader.map(people.name)
            notices.append(.say(DuetSentences.take(duet.take, turn: turn, waitingFor: names)))
        } else if let last, last.duet.attempt == duet.attempt, last.duet.hasAgreed != duet.hasAgreed,
            duet.hasAgreed || isSameMode
        {
            notices.append(.say(DuetSentences.ownAgreement(duet.hasAgreed, waitingFor: names)))
        }
        return notices
    }

    /// Asks the user to agree to an attempt, or to another mode of it.
    private func question(
        _ duet: DuetStatus<MemberID>, _ mode: DuetMode<MemberID>, _ people: People
    ) -> [Notice] {
        guard !duet.hasAgreed else { return [] }
        let hasKeys = people.hasKeys && !people.agreesByItself
        let isNew = asked.map { $0.attempt == duet.attempt && $0.mode != mode } ?? false
        let singers = duet.singers.filter(\.hasAgreed).map { people.name($0.member) }
        let words = DuetSentences.agreement(
            attempt: duet.take,
            mode: DuetSentences.mode(duet, delay: people.delay, hasKeys: hasKeys, isNew: isNew, name: people.name),
            parts: asked == nil ? DuetSentences.parts(duet, name: people.name) : "",
            voices: duet.isInTurn ? duet.sings ? .own : .others : .all,
            hasKeys: hasKeys, inProgress: duet.phaseOfOthers == nil ? nil : DuetSentences.inProgress(duet, singers))
        let question = people.hasKeys ? Notice.ask(words) : .say(words)
        return people.hasKeys || people.agreesByItself ? [question] : [question, .warn(DuetSentences.noTerminal)]
    }

    /// Tells a singer once, before the song, that the delay of the device is not known.
    private mutating func ownDelay(_ status: LiveDuetStatus, _ step: Step, _ people: People) -> [Notice] {
        guard !hasReportedDelay, step == .agreeing, !status.duet.singers.isEmpty, people.delay != nil,
            let words = people.ownDelay.flatMap(DuetSentences.ownDelay)
        else { return [] }
        hasReportedDelay = true
        return [.say(words)]
    }

    /// Warns a singer whose voice would be missing: after the agreement, and again at the count-in.
    private mutating func silence(_ status: LiveDuetStatus, _ step: Step, _ people: People) -> [Notice] {
        let isBefore = [.agreeing, .time, .counting].contains(step)
        guard status.duet.hasAgreed, status.duet.sings, isBefore || step == .singing && lastStep == .agreeing else {
            reportedSilence = nil
            return []
        }
        let isNew = people.silence != reportedSilence || step != lastStep && step == .counting
        reportedSilence = people.silence
        guard isNew, let silence = people.silence else { return [] }
        return [.warn(DuetSentences.silence(silence, hasKeys: people.hasKeys))]
    }

    private func files(_ status: LiveDuetStatus, _ old: LiveDuetStatus?, _ people: People) -> [Notice] {
        let duet = status.duet
        let known = old?.duet.attempt == duet.attempt ? old : nil
        var notices: [Notice] = []
        for singer in status.singers.sorted()
        where status.presentStems.contains(singer) && known?.presentStems.contains(singer) != true {
            notices.append(.say(DuetSentences.stem(people.name(singer))))
        }
        if let known, known.mixPath != nil, known.mixPreset != status.mixPreset {
            notices.append(.say(DuetSentences.preset(status.mixPreset, isPlaying: duet.phase == .listening)))
        }
        if let known, known.mixPath != nil, known.mixBalance.isChanged(in: status.mixBalance) {
            notices.append(.say(DuetSentences.balanced(status.mixBalance)))
        }
        for path in status.mixPaths
        where old?.mixPaths.contains(path) != true || old?.missingVoices[path] != status.missingVoices[path] {
            let missing = (status.missingVoices[path] ?? []).sorted()
            // The keys are for the mix of the present take.
            let isPresent = path == status.mixPath
            notices.append(
                .say(
                    DuetSentences.mixed(
                        path, missing: missing.map(people.name), isBeat: isPresent && duet.song?.isBeat == true,
                        isInTurn: duet.isInTurn, choosesSong: people.isHost, hasKeys: people.hasKeys && isPresent)))
        }
        return notices
    }
}
