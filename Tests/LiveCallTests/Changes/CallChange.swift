// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotPlayout
import Foundation

@testable import EarshotLiveCall
@testable import EarshotRooms

/// A change of a running call, made by one of its participants.
struct CallChange {
    /// The kinds of changes. A new kind needs a case, and a row in ``ChangedCall/command(_:by:)``.
    enum Kind: String, CaseIterable {
        case volume = "volume of a person"
        case hearing = "silence or hear a person"
        case outputVolume = "output volume"
        case mute = "mute or unmute"
        case latencyProfile = "dial"
        case voiceProcessing = "voice processing"
        case rename = "rename"
        case message = "message"
        case monitor = "monitor"
        case pushToTalk = "push to talk, or talk"
        case effects = "effects"
        case effectParameter = "parameter of an effect"
        case accompaniment = "accompaniment"
        case codec = "codec and packet length"
        case device = "device"
        case recording = "start or stop recording"
        case consent = "allow or decline recordings"
        case join = "a third person joins"
        case leave = "a third person leaves"

        /// The limit of a click in dBFS. The end of a voice that leaves is concealed, with up to -55.7 dBFS in 1,000 calls.
        var clickLimit: Double { self == .leave ? -50 : HeardSound.clickLimit }

        /// The kinds that are drawn: all but those that `EARSHOT_CHANGES_WITHOUT` names, separated by semicolons. Without it, all
        /// but changes of the codec and of the device.
        static let drawn: [Kind] = {
            let names =
                ProcessInfo.processInfo.environment["EARSHOT_CHANGES_WITHOUT"]
                ?? "\(codec.rawValue);\(device.rawValue)"
            let left = Set(names.split(separator: ";").map(String.init))
            return allCases.filter { !left.contains($0.rawValue) }
        }()
    }

    let kind: Kind
    let time: HostTime
    /// The person who makes the change: 0, 1 or 2.
    let person: Int
    /// The command, for a failure's text.
    let text: String
}

extension ChangedCall {
    /// The effects that are drawn, and the decibels by which they change a voice: a limiter changes none below its ceiling.
    static let effects: [(texts: [String], decibels: Double)] = [
        ([], 0), (["limiter"], 0), (["gain,gain=-6"], -6), (["limiter", "gain,gain=-3"], -3), (["gain,gain=-12"], -12),
    ]
    private static let decibels = ["0", "-3", "-6", "-12"]
    /// The codecs between which the sound continues, and milliseconds of packets.
    private static let formats: [(codec: Codec?, milliseconds: Double?)] = [
        (nil, nil), (.pcm, nil), (.pcm, nil), (.opus, 2.5), (.opus, 5), (.opus, 10), (.opus, 20),
    ]

    /// Draws a command of a kind; nil if the person cannot make such a change now. The join of a person is no command of that
    /// person's call: ``join(_:)`` makes it.
    func command(_ kind: CallChange.Kind, by peer: ChangedPeer) -> LiveCallCommand? {
        let other = draw(from: peers.compactMap { $0 }.filter { $0.person != peer.person })
        switch kind {
        case .volume: return other.map { .setVolume(Float(draw(7)) / 4, of: $0.id) }
        case .hearing: return other.map { .setHeard(!(peer.core.snapshot[$0.id]?.isHeard ?? false), of: $0.id) }
        case .outputVolume: return .setOutputVolume(Float(draw(6)) / 4)
        case .mute: return .setMuted(!peer.core.snapshot.isMuted)
        case .latencyProfile: return LatencyProfile(position: random.unit()).map { .setLatencyProfile($0) }
        case .voiceProcessing: return .setVoiceProcessing(draw(2) == 0 ? .off : draw(2) == 0 ? .auto : .on)
        case .monitor:
            return .setMonitor(peer.core.snapshot.monitorMode != .on ? .on : draw(2) == 0 ? .off : .auto)
        case .pushToTalk: return pushToTalk(peer.core.snapshot)
        case .effects: return draw(from: Self.effects).map { .setEffects($0.texts) }
        case .effectParameter:
            guard peer.core.snapshot.effects?.index(of: "gain") != nil else { return nil }
            return draw(from: Self.decibels).map { .setEffectParameter("gain", of: "gain", to: $0) }
        case .accompaniment: return accompaniment(of: peer)
        case .codec: return draw(from: Self.formats).map { .setCodec($0.codec, frameMilliseconds: $0.milliseconds) }
        case .device:
            // The system's default card is used if no card is named.
            let name = draw(from: ChangedCards.names + [""]).flatMap { $0.isEmpty ? nil : $0 }
            return .setDevice(input: name, output: name)
        case .rename:
            return (try? PeerName("\(CoreRig.name(UInt64(peer.person) + 1)) \(changes.count)")).map { .rename($0) }
        case .message: return .say("la")
        case .recording: return peer.core.snapshot.recording == nil ? .startRecording(folder: "/take") : .stopRecording
        case .consent: return .allowRecording(draw(2) == 0)
        case .leave: return peer.person == Self.comingPerson ? .leave : nil
        case .join: return nil
        }
    }

    private func pushToTalk(_ snapshot: LiveCallSnapshot) -> LiveCallCommand {
        let talks = snapshot.isPushToTalk && draw(2) == 0
        return talks ? .setMuted(!snapshot.isMuted) : .setPushToTalk(!snapshot.isPushToTalk)
    }

    /// Draws a command for a person's song; nil for a person without one.
    private func accompaniment(of peer: ChangedPeer) -> LiveCallCommand? {
        guard songs.paths.indices.contains(peer.person) else { return nil }
        let path = songs.paths[peer.person]
        guard let status = peer.core.snapshot.accompaniment else { return .setAccompaniment(files: [path]) }
        switch draw(7) {
        case 0, 1, 2: return .controlAccompaniment(status.isPlaying ? .pause : .play)
        case 3: return .controlAccompaniment(.setForAll(!status.isForAll))
        case 4: return .controlAccompaniment(.setGain(status.gain == 1 ? 0.5 : 1))
        case 5: return .controlAccompaniment(.seek(to: Double(draw(40)) / 10))
        default: return .setAccompaniment(files: draw(2) == 0 ? [] : [path])
        }
    }
}
