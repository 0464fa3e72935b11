// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import Foundation

/// The sentences of `earshot call duet`.
extension DuetSentences {
    static let noDuet = "The call has no duet. Begin one: earshot duet host SONG"

    /// Returns a duet as `Duet: Blue Moon, take 2, singing at 0:12 of 3:20, with Ben.`
    static func status(_ duet: DuetDocument, _ participants: [ParticipantDocument]) -> String {
        guard let song = duet.song else { return noDuet }
        let times = "\(PlayLine.clock(duet.seconds)) of \(PlayLine.clock(duet.duration ?? 0))"
        let names = names(of: duet.singers.map(\.participant), participants)
        let singers = names.isEmpty ? "" : ", with \(RecordingSentences.list(names))"
        let state =
            switch duet.phase {
            case "gettingSong": "the song is arriving"
            case "agreeing" where duet.phaseOfOthers != nil: "the others are at \(times)"
            case "agreeing": duet.hasAgreed ? "waiting for the others" : "you have not agreed"
            case "counting": "it begins"
            case "singing": "singing at \(times)"
            case "paused": "paused at \(times)"
            case "listening": "the mix plays at \(times)"
            case "ended": duet.isBusy ? "over, mixing" : "over"
            default: "the clocks are being synchronized"
            }
        let leader = duet.leader.map { ", \(leads($0, isInTurn: duet.mode == "inTurn", participants))" }
        let nearby = Self.names(of: duet.singers.filter(\.isNearby).map(\.participant), participants)
        let room = nearby.isEmpty ? "" : " In the same room: \(RecordingSentences.list(nearby))."
        let mix = duet.mix.map { "\nMix: \($0)" } ?? ""
        let guideVocal =
            duet.guideLevel.map { duet.hasGuide == true ? " \(guide($0))" : " The guide vocal is not here yet." } ?? ""
        let title = TerminalText.sanitizedLine(song)
        return
            "Duet: \(title), take \(duet.take), \(state)\(singers)\(leader ?? "").\(room)\(guideVocal)\(mix)"
    }

    /// Returns the sentence about a change, without the names of participants.
    static func changed(_ duet: DuetDocument) -> String {
        var duet = duet
        (duet.singers, duet.leader) = ([], nil)
        return status(duet, [])
    }

    /// Returns the sentence after an order was executed.
    /// - Parameter duet: the duet before the order.
    static func done(_ order: DuetOrder, _ duet: DuetDocument, _ participants: [ParticipantDocument]) -> String {
        switch order {
        case .chooseSong(let path, _):
            return
                "Song: \(TerminalText.sanitizedLine((path as NSString).lastPathComponent)). All must agree to sing it."
        case .agree(let agrees):
            let waiting = duet.singers.filter { !$0.hasAgreed }.map(\.participant)
            return ownAgreement(agrees, waitingFor: names(of: waiting, participants))
        case .setMode(.together): return "All sing together. All must agree again."
        case .setMode(.led(let leader)):
            return "\(capitalized(leads(UInt64(leader.number), participants))). All must agree again."
        case .setMode(.inTurn(let singer)):
            let words = leads(UInt64(singer.number), isInTurn: true, participants)
            return "You take turns. \(capitalized(words)). All must agree again."
        case .nextTurn:
            let others = names(of: duet.singers.map(\.participant), participants)
            return take(UInt32(clamping: duet.take) &+ 1, waitingFor: others)
        case .setPart(let part): return "You: \(Self.part(part))."
        case .setGuide(let gain): return guide(Double(gain))
        case .pause: return paused()
        case .resume: return resumed()
        case .seek(let seconds):
            return "The song is at \(PlayLine.clock(min(seconds, duet.duration ?? seconds))) now, for all."
        case .singAgain:
            let others = names(of: duet.singers.map(\.participant), participants)
            let number = UInt32(clamping: duet.take)
            let words = take(number &+ 1, waitingFor: others)
            return duet.isSong ? "\(unfinishedTake(number)) \(words)" : words
        case .listen(let listens): return listens ? listening : "The mix has stopped for all."
        case .balance(let voice, let level): return "Mixing again: \(balance(voice, level))."
        case .mix(let preset): return "Mixing again: \(preset.name). \(preset.summary)"
        }
    }

    /// Returns `Ben leads`, `you lead`, `Ben sings alone` or `you sing alone`.
    private static func leads(
        _ leader: UInt64, isInTurn: Bool = false, _ participants: [ParticipantDocument]
    ) -> String {
        let words = isInTurn ? ("sings alone", "you sing alone") : ("leads", "you lead")
        return participants.first { $0.id == leader }.map { "\(TerminalText.sanitized($0.name)) \(words.0)" } ?? words.1
    }

    private static func capitalized(_ words: String) -> String { words.prefix(1).uppercased() + words.dropFirst() }

    private static func names(of numbers: [UInt64], _ participants: [ParticipantDocument]) -> [String] {
        numbers.map { number in
            TerminalText.sanitized(participants.first { $0.id == number }?.name ?? "somebody")
        }
    }
}
