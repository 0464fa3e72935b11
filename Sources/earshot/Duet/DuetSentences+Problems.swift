// SPDX-License-Identifier: Apache-2.0

import EarshotAudioStreams
import EarshotDuet
import EarshotLiveCall
import EarshotRooms
import Foundation

/// The sentences about refused orders and failures of a duet.
extension DuetSentences {
    /// A folder that cannot be written.
    static func folder(_ path: String, _ code: Int32) -> String {
        "\(path): \(String(cString: strerror(code))). Choose another with --folder."
    }

    private static func megabytes(_ bytes: Int64) -> String { "\(bytes / 1_000_000) MB" }

    static func refused(_ refusal: DuetRefusal) -> String {
        switch refusal {
        case .notHost: "Only the host chooses the song."
        case .noSong: "There is no song."
        case .songMissing: "The song is not here yet."
        case .notStarted: "The song has not begun."
        case .songPlays: choiceEnded
        case .started: "The take has begun. Press r for a new one, then Tab."
        case .noSinger: "Only somebody who sings this song can lead or have a turn."
        case .notInTurn: "You are not taking turns. Tab before a take changes that."
        case .noGuide: "The song has no guide vocal."
        case .noVoice(let name): "The mix has no voice called '\(TerminalText.sanitized(name))'."
        case .mixMissing: "The mix is not ready yet."
        case .attemptOver: "You have left this take. Press r for a new one."
        case .folder(let path, let code): folder(path, code)
        case .noSpace(let path, let needed, let free):
            "\(path): a take needs \(megabytes(needed)), but \(megabytes(free)) are free. Delete files, or choose another with --folder."
        case .noTime: "The clocks are not synchronized yet. Try again in a second."
        }
    }

    /// A song that did not arrive from the network.
    static func download(_ failure: FileDownload.Failure) -> String {
        switch failure {
        case .stream(let error): "The song did not arrive. \(ErrorText.text(error))"
        case .endless(let address): "\(address) is a live stream without an end. Choose a file."
        case .tooLarge(let address, let limit): "\(address) is larger than \(limit >> 20) MiB. Choose a smaller file."
        case .file(let error): "The song cannot be stored. \(ErrorText.text(error))"
        }
    }

    /// - Parameter name: returns a singer's name.
    static func problem(_ problem: DuetProblem, name: (MemberID) -> String) -> String {
        switch problem {
        case .notChosen(let refusal): return refused(refusal)
        case .song(let error): return ErrorText.text(error)
        case .download(let failure): return download(failure)
        case .notSound(let address): return "\(address) is not a sound file. Check the address."
        case .unreadable(let path, let code): return "\(path): \(String(cString: strerror(code)))"
        case .tooLarge(let path, let limit):
            return "\(path) is larger than \(limit >> 20) MiB. Convert it: earshot convert FILE song.m4a"
        case .tooLong(let path, let limit): return "\(path) is longer than \(Int(limit / 3_600)) hours. Choose another."
        case .tooShort(let path, let limit):
            return "\(path) is shorter than \(Int(limit)) s, so nobody can sing to it. Choose another."
        case .guide(let error): return "The guide vocal is not heard. \(ErrorText.text(error))"
        case .guideLength(let path, let seconds, let song):
            return "\(path) lasts \(PlayLine.clock(seconds)), but the song \(PlayLine.clock(song)). "
                + "Choose a guide vocal of the same length, within 1 s."
        case .guideIsSong(let path): return "\(path) is the song itself. Choose a guide vocal with the voice alone."
        case .cutOff(let name, let duration):
            return "The end of \(TerminalText.sanitizedLine(name)) is missing, so the song stops after "
                + "\(PlayLine.clock(duration)). Ask the host for a complete file."
        case .system(let code): return "The song cannot be played: \(String(cString: strerror(code)))"
        case .noSound: return "This room has no sound, so nobody can sing in it."
        case .tooManySongs(let limit):
            return "The host has sent \(limit >> 30) GiB of songs, the limit of a call. Join again to receive more."
        case .notReceived(let file, let error):
            return "\(TerminalText.sanitizedLine(file)) did not arrive: \(ErrorText.text(error))"
        case .notSent(let file, let member, let error):
            let receiver = TerminalText.sanitized(name(member))
            return "\(receiver) does not have \(TerminalText.sanitizedLine(file)): \(ErrorText.text(error))"
        case .recording(.alreadyRecording):
            return "This take is not recorded, because another recording runs. Stop it: earshot call stop-recording"
        case .recording(let refusal):
            return RecordingSentences.refused(refusal).map { "This take is not recorded. \($0)" }
                ?? "This take is not recorded."
        case .recordingLost:
            return "This take is not recorded, so you have left it. The others can see that. Press r for a new take."
        case .folder(let path, let code): return folder(path, code)
        case .stem(let member?, let error):
            return "\(TerminalText.sanitized(name(member)))'s voice cannot be used. \(ErrorText.text(error))"
        case .stem(nil, let error): return "A part of your voice is missing. \(ErrorText.text(error))"
        case .ownStem(let error): return "Your voice cannot be sent or mixed. \(ErrorText.text(error))"
        case .mix(let error): return "The mix cannot be made. \(ErrorText.text(error))"
        }
    }
}
