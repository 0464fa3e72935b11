// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDuet
import EarshotLiveCall
import EarshotRooms
import Foundation

/// Converts keys and typed answers to commands of a call.
///
/// Members are for the command's thread only.
final class RoomInput {
    let call: LiveCall
    /// The terminal's keys; nil without a terminal.
    let keys: KeyboardInput?
    private var bindings = RoomKeyBindings()
    private var duetKeys = DuetKeys()
    /// The choice of a duet's next song.
    var nextSong = NextSong()
    /// Returns the sentences that the key `s` prints.
    var status: (() -> String)?
    /// Called after a command from the user's keys was executed.
    var didPerform: ((LiveCallCommand) -> Void)?
    /// Called after the user selected a participant; with nil for the whole playback.
    var didSelect: ((MemberID?) -> Void)?
    /// Called after a key of the choice of a song.
    var didType: (() -> Void)?
    /// The participant whose volume the keys change; nil for the whole playback.
    var selection: MemberID? { bindings.selection }

    /// Returns the voice of the duet's mix whose balance the keys change; nil before they do.
    func selectedVoice(_ duet: LiveDuetStatus) -> MixBalance.Voice? { duetKeys.selectedVoice(duet) }

    init(_ call: LiveCall, keys: KeyboardInput?) {
        self.call = call
        self.keys = keys
    }

    /// Handles the keys that the user presses, until none is pressed for `seconds`. Returns within twice that time, so that the
    /// status line follows a key that is held down.
    /// - Returns: false if the user wants to leave.
    func press(within seconds: Double) -> Bool {
        guard let keys else {
            Thread.sleep(forTimeInterval: seconds)
            return true
        }
        bindings.update(call.snapshot, at: .now())
        releaseTalkKey()
        nextSong.update(call.duetStatus?.duet, call.snapshot)
        let end = HostTime.now().advanced(bySeconds: seconds)
        while let key = keys.next(within: seconds) {
            if nextSong.isOpen {
                if let order = nextSong.take(key) { execute(.perform(order)) }
                didType?()
            } else if let action = duetAction(key) {
                if action == .leave { return false }
                execute(action)
            } else if let action = bindings.take(key, call.snapshot, at: .now()), !execute(action) {
                return false
            }
            if HostTime.now() >= end { break }
        }
        releaseTalkKey()
        return true
    }

    private func duetAction(_ key: Key) -> DuetKeys.Action? {
        guard let status = call.duetStatus else { return nil }
        let snapshot = call.snapshot
        return duetKeys.take(
            key, status, snapshot.joinRequests.map(\.id), isHost: snapshot.isHost,
            isAsked: snapshot.isRecordingConsentRequested)
    }

    private func releaseTalkKey() {
        if let action = bindings.releaseTalkKey(call.snapshot, at: .now()) { _ = execute(action) }
    }

    private func execute(_ action: DuetKeys.Action) {
        switch action {
        case .perform(let order):
            do throws(DuetRefusal) { try call.perform(order) } catch { Terminal.warn(DuetSentences.refused(error)) }
        case .ask(let words): Terminal.notice(words)
        case .say(let words): Terminal.say(words)
        case .chooseSong:
            nextSong.open()
            didType?()
        case .ignore, .leave: break
        }
    }

    /// Executes an action. Returns false if the user wants to leave.
    private func execute(_ action: RoomKeyBindings.Action) -> Bool {
        switch action {
        case .quit: return false
        case .help:
            let isDuet = call.duetStatus?.duet.song != nil
            let help = RoomKeyBindings.help(isHost: call.snapshot.isHost, records: !isDuet)
            Terminal.say(isDuet ? "\(DuetKeys.help)\n\(help)" : help)
        case .status: Terminal.say(status?() ?? "Not in the room yet.")
        case .select(let id): didSelect?(id)
        case .say(let words): Terminal.say(words)
        case .perform(let command):
            do throws(CommandRefusal) {
                try call.perform(command)
                didPerform?(command)
            } catch {
                // Other commands are refused if the room has changed meanwhile.
                if let sentence = RecordingSentences.refused(error) ?? EffectSentences.refused(error) {
                    Terminal.warn(sentence)
                }
            }
        }
        return true
    }

    /// Answers a join request: `y` admits, `n` declines, `b` blocks. If several guests ask, `which` names one or is its number.
    func answer(_ letter: String, _ which: String?) {
        let requests = call.snapshot.joinRequests
        guard let index = Self.index(which, in: requests.map(\.guest.name.text)) else {
            return Terminal.say(requests.isEmpty ? "Nobody is asking to join." : "Name one of \(requests.numbered).")
        }
        let id = requests[index].id
        try? call.perform(letter == "y" ? .admit(id) : letter == "n" ? .decline(id) : .blockRequest(id))
    }

    /// Returns the index of the guest with a name or with a number from 1; if `which` is nil, of the only guest. Returns nil
    /// unless exactly one guest matches. A number has priority over a name, since guests choose their names.
    static func index(_ which: String?, in names: [String]) -> Int? {
        guard let which else { return names.count == 1 ? 0 : nil }
        if let number = Int(which), number > 0, number <= names.count { return number - 1 }
        let named = names.indices.filter { names[$0] == which }
        return named.count == 1 ? named[0] : nil
    }
}
