// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotPlayout

@testable import EarshotLiveCall
@testable import EarshotRooms

/// A change of a running call, made by one of its participants.
struct CallChange {
    /// The kinds of changes. A new kind needs a case, a row in ``allowedGapFrames`` and one in ``ChangedCall/command(_:by:)``.
    enum Kind: String, CaseIterable {
        case volume = "volume of a person"
        case hearing = "silence or hear a person"
        case outputVolume = "output volume"
        case mute = "mute or unmute"
        case latencyProfile = "dial"
        case voiceProcessing = "voice processing"
        case rename = "rename"
        case message = "message"
        case recording = "start or stop recording"
        case consent = "allow or decline recordings"
        case join = "a third person joins"
        case leave = "a third person leaves"

        /// The frames of the participants' voices that a listener may miss because of the change.
        var allowedGapFrames: Int {
            switch self {
            case .volume, .hearing, .outputVolume, .mute, .latencyProfile, .voiceProcessing: 0
            case .rename, .message, .recording, .consent: 0
            case .join, .leave: 0  // of the voices that were in the call, and stay
            }
        }
    }

    let kind: Kind
    let time: HostTime
    /// The person who makes the change: 0, 1 or 2.
    let person: Int
    /// The command, for a failure's text.
    let text: String
}

extension ChangedCall {
    /// Draws a command of a kind; nil if the person cannot make such a change now. The join of a person is no command of that
    /// person's call: ``apply(_:)`` makes it.
    func command(_ kind: CallChange.Kind, by peer: ChangedPeer) -> LiveCallCommand? {
        let other = draw(from: peers.compactMap { $0 }.filter { $0.person != peer.person && !$0.isLeaving })
        switch kind {
        case .volume: return other.map { .setVolume(Float(draw(7)) / 4, of: $0.id) }
        case .hearing: return other.map { .setHeard(!(peer.core.snapshot[$0.id]?.isHeard ?? false), of: $0.id) }
        case .outputVolume: return .setOutputVolume(Float(draw(6)) / 4)
        case .mute: return .setMuted(!peer.core.snapshot.isMuted)
        case .latencyProfile: return LatencyProfile(position: random.unit()).map { .setLatencyProfile($0) }
        case .voiceProcessing: return .setVoiceProcessing(draw(2) == 0 ? .off : draw(2) == 0 ? .auto : .on)
        case .rename:
            return (try? PeerName("\(CoreRig.name(UInt64(peer.person) + 1)) \(changes.count)")).map { .rename($0) }
        case .message: return .say("la")
        case .recording: return peer.core.snapshot.recording == nil ? .startRecording(folder: "/take") : .stopRecording
        case .consent: return .allowRecording(draw(2) == 0)
        case .leave: return peer.person == Self.comingPerson ? .leave : nil
        case .join: return nil
        }
    }
}
