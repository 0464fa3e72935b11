// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDuet
import EarshotLiveCall
import EarshotRooms
import Foundation

/// Prints the changes of a duet, and waits for its files when the user leaves.
///
/// Members are for the command's thread only.
final class DuetPresenter {
    /// The seconds for which the files of the last take are awaited if it is complete, and if the user leaves it.
    private static let finishTimes = (complete: 60.0, left: 10.0)
    /// The seconds after which a room without a song is reported. A host announces its song several times a second.
    private static let songTime = 3.0
    /// The seconds between two tries to agree without being asked.
    private static let agreeingInterval = 1.0

    private let call: LiveCall
    private let options: CallOptions
    private let hasKeys: Bool
    private var notices = DuetNotices()
    /// True once the user leaves, or the call has ended.
    private var isLeaving = false
    /// True if a signal such as that of Ctrl-C began the leaving.
    private var isInterrupted = false
    /// True if the user leaves in mid-song. Then only the own voice is awaited.
    private var leavesSong = false
    private var hasSaidFinishing = false
    private var lastPending = ""
    /// True once a song has begun.
    private var hasBegun = false
    /// The time before which ``present()`` does not agree again, after a refusal.
    private var agreeingTime = HostTime(nanoseconds: 0)
    private var lastRefusal: String?
    /// The time since which a song has been awaited in the room; nil before.
    private var songAwaitedSince: HostTime?
    /// True once a song was there, or its absence was reported.
    private var knowsSong = false
    /// The mix of the last take; nil without one.
    private(set) var mix: String?

    init(_ call: LiveCall, _ options: CallOptions, hasKeys: Bool) {
        self.call = call
        self.options = options
        self.hasKeys = hasKeys
    }

    /// Prints what has changed. Agrees to a take if the user wants no question.
    func present() {
        reportMissingSong()
        guard let status = call.duetStatus else { return }
        mix = status.mixPaths.last ?? mix
        let delays = call.levels.participants.values.compactMap(\.mouthToEar)
        let people = DuetNotices.People(
            name: name, delay: delays.max(), hasKeys: hasKeys && !isLeaving, isHost: call.snapshot.isHost,
            agreesByItself: options.agreesToDuet, silence: DuetNotices.Silence(call.snapshot),
            ownDelay: call.snapshot.device.flatMap { $0.backend == .simulated ? nil : $0.delayKnowledge })
        for notice in notices.notices(status, people) {
            switch notice {
            case .say(let words): Terminal.say(words)
            case .warn(let words): Terminal.warn(words)
            case .ask(let words): Terminal.notice(words)
            }
        }
        if options.agreesToDuet, !isLeaving, status.duet.phase == .agreeing, !status.duet.hasAgreed,
            !status.duet.hasLeft, !status.duet.singers.isEmpty, status.duet.phaseOfOthers?.isOver != true
        {
            agree()
        }
        switch status.duet.phase {
        case .counting, .singing, .paused, .ended: hasBegun = true
        default: break
        }
    }

    /// Tells a singer that a room has no duet.
    private func reportMissingSong() {
        let snapshot = call.snapshot
        if call.duetStatus?.duet.song != nil { knowsSong = true }
        guard options.isDuet, !knowsSong, snapshot.isInRoom, !snapshot.participants.isEmpty, let room = snapshot.room
        else { return }
        let now = HostTime.now()
        let start = songAwaitedSince ?? now
        songAwaitedSince = start
        guard now.seconds(since: start) > Self.songTime else { return }
        knowsSong = true
        Terminal.say(DuetSentences.noSong(room: room.name.text))
    }

    private func name(_ member: MemberID) -> String { call.name(of: member)?.text ?? "Somebody" }

    /// Agrees to a take. Prints the refusal of a folder once, and tries again later.
    private func agree() {
        let now = HostTime.now()
        guard now >= agreeingTime else { return }
        do throws(DuetRefusal) {
            try call.perform(.agree(true))
            lastRefusal = nil
        } catch {
            agreeingTime = now.advanced(bySeconds: Self.agreeingInterval)
            let kind: String
            switch error {
            case .folder: kind = "folder"
            case .noSpace: kind = "space"
            default: return  // the song or the take has changed meanwhile
            }
            if lastRefusal != kind { Terminal.warn(DuetSentences.refused(error)) }
            lastRefusal = kind
        }
    }

    /// Ends a take that is being sung, and waits until the voices are exchanged and mixed.
    /// - Parameter presentCall: prints the changes of the call.
    func finish(_ presentCall: () -> Void) {
        isLeaving = true
        isInterrupted = Interrupt.isRequested
        guard let status = call.duetStatus, call.snapshot.ending == nil else { return }
        var seconds = Self.finishTimes.complete
        switch status.duet.phase {
        case .counting, .singing, .paused:
            (hasBegun, leavesSong) = (true, true)
            seconds = Self.finishTimes.left
            try? call.perform(.agree(false))  // refused if the song has changed meanwhile
            // The call's thread notices the end of the take within 0.1 s.
            Thread.sleep(forTimeInterval: 0.2)
        default: break
        }
        let end = HostTime.now().advanced(bySeconds: seconds)
        while isWaiting(until: end) {
            sayFinishing()
            presentCall()
            present()
            sayPending()
            Thread.sleep(forTimeInterval: 0.05)
        }
    }

    /// Other signals than that of Ctrl-C, such as that of a closed terminal, do not wait for others.
    private func isWaiting(until end: HostTime) -> Bool {
        let status = call.duetStatus
        return (leavesSong ? status?.isSending : status?.isBusy) == true && HostTime.now() < end && !leavesAtOnce
            && call.snapshot.ending == nil
            && (!isInterrupted || Interrupt.isFromKeyboard)
    }

    /// True after Ctrl-C while the files are awaited. After a Ctrl-C that began the leaving, another one ends the process.
    private var leavesAtOnce: Bool { Interrupt.isRequested && !isInterrupted }

    private func sayFinishing() {
        guard !hasSaidFinishing else { return }
        hasSaidFinishing = true
        Terminal.say(DuetSentences.finishing(isInterrupted: isInterrupted))
    }

    private func sayPending() {
        guard let status = call.duetStatus, leavesSong ? status.isSending : status.isBusy,
            case let words = DuetSentences.pending(status, isOwn: leavesSong, name: name),
            words != lastPending
        else { return }
        lastPending = words
        Terminal.say(words)
    }

    /// Mixes the takes that have no mix after the call, with the voices that have arrived.
    func finishTakes() {
        if call.duetStatus?.isUnfinished == true, !leavesAtOnce {
            sayFinishing()
            waiting(until: { leavesAtOnce }, for: { [call] in await call.finishTakes() })
        }
        present()
        if let mixes = call.duetStatus?.mixPaths, mixes.count > 1 { Terminal.say(DuetSentences.mixes(mixes)) }
        for words in DuetSentences.withoutMix(call.duetTakeResults, hasBegun: hasBegun) { Terminal.warn(words) }
    }
}
