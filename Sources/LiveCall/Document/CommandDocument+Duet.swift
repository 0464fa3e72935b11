// SPDX-License-Identifier: Apache-2.0

import EarshotDuet
import Glibc

/// The orders for a duet.
extension CommandDocument {
    static let duetCommand = "controlDuet"

    /// The names of the orders.
    private enum OrderName: String {
        case agree, withdraw, pause, resume, seek, singAgain, listen, stopListening, mix, balance, together, lead,
            inTurn, nextTurn, chooseSong, guide, part
    }

    /// Creates the document of an order.
    package init(_ order: DuetOrder) {
        self.init(command: Self.duetCommand)
        let name: OrderName
        switch order {
        case .chooseSong(let path, let beat):
            (name, self.path) = (.chooseSong, path)
            self.beat = beat.map { CountIn(bpm: $0.tempo, bar: $0.beatsPerBar) }
        case .agree(let agrees): name = agrees ? .agree : .withdraw
        case .pause: name = .pause
        case .resume: name = .resume
        case .seek(let position): (name, seconds) = (.seek, position)
        case .singAgain: name = .singAgain
        case .nextTurn: name = .nextTurn
        case .setPart(let part): (name, value) = (.part, "\(part)")
        case .setGuide(let gain): (name, volume) = (.guide, gain)
        case .listen(let listens): name = listens ? .listen : .stopListening
        case .setMode(.together): name = .together
        case .setMode(.led(let leader)): (name, participant) = (.lead, UInt64(leader.number))
        case .setMode(.inTurn(let singer)): (name, participant) = (.inTurn, UInt64(singer.number))
        case .balance(let voice, let decibels):
            name = .balance
            (self.name, value) = (voice, "\(decibels)")
        case .mix(let preset): (name, value) = (.mix, preset.name)
        }
        control = name.rawValue
    }

    /// Returns the order, with checked arguments.
    func duetOrder() throws(CommandDocumentError) -> DuetOrder {
        switch try requiredValue(control, "control", { OrderName(rawValue: $0) }) {
        case .chooseSong:
            var checked: Beat?
            if let beat {
                checked = try requiredValue(beat, "beat") { beat -> Beat? in
                    let checked = Beat(tempo: beat.bpm, beatsPerBar: beat.bar)
                    return checked.isValid ? checked : nil
                }
            }
            return .chooseSong(path: try requiredValue(path, "path", Self.absolutePath), beat: checked)
        case .agree: return .agree(true)
        case .withdraw: return .agree(false)
        case .pause: return .pause
        case .resume: return .resume
        case .seek: return .seek(to: try requiredValue(seconds, "seconds") { $0.isFinite ? $0 : nil })
        case .singAgain: return .singAgain
        case .nextTurn: return .nextTurn
        case .part:
            let part = try requiredValue(value, "value") { Int($0).flatMap { DuetPart.all.contains($0) ? $0 : nil } }
            return .setPart(part)
        case .guide: return .setGuide(gain: try requiredValue(volume, "volume") { (0...1).contains($0) ? $0 : nil })
        case .listen: return .listen(true)
        case .stopListening: return .listen(false)
        case .together: return .setMode(.together)
        case .lead: return .setMode(.led(by: try member()))
        case .inTurn: return .setMode(.inTurn(try member()))
        case .balance:
            let decibels = try requiredValue(value, "value") { Float($0).flatMap { $0.isFinite ? $0 : nil } }
            return .balance(voice: try requiredValue(self.name, "name") { $0 }, decibels: decibels)
        case .mix: return .mix(try requiredValue(value, "value") { MixPreset.named($0) })
        }
    }
}

extension ErrorDocument {
    init(_ refusal: DuetRefusal) {
        switch refusal {
        case .notHost: self.init(code: "not-host", text: "Only the host chooses the song")
        case .noSong: self.init(code: "no-song", text: "The call has no duet")
        case .songMissing: self.init(code: "song-missing", text: "The song has not arrived yet")
        case .notStarted: self.init(code: "not-started", text: "The song has not begun")
        case .songPlays: self.init(code: "song-plays", text: "The song plays")
        case .started: self.init(code: "started", text: "The take has begun")
        case .notInTurn: self.init(code: "not-in-turn", text: "The singers do not take turns")
        case .noSinger: self.init(code: "no-singer", text: "The participant sings no duet")
        case .noGuide: self.init(code: "no-guide", text: "The song has no guide vocal")
        case .noTime: self.init(code: "no-time", text: "The clocks are not synchronized yet")
        case .attemptOver: self.init(code: "take-over", text: "You have left this take")
        case .mixMissing: self.init(code: "no-mix", text: "The take has no mix yet")
        case .noVoice(let name): self.init(code: "no-voice", text: "The mix has no voice called '\(name)'")
        case .folder(let path, let code): self.init(CallRecordingError.folder(path: path, code: code))
        case .noSpace(let path, let needed, let free):
            self.init(code: "no-space", text: "\(path): a take needs \(needed) bytes, but \(free) are free")
        }
    }
}
