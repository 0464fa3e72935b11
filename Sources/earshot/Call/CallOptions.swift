// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotMediaTransport

/// The options that `host` and `join` share.
struct CallOptions: ParsableArguments {
    @OptionGroup(title: "Codec and delay")
    var coding: CodecOptions

    @OptionGroup(title: "Voice")
    var voice: VoiceOptions

    @OptionGroup(title: "Audio device")
    var card: DeviceOptions

    @OptionGroup(title: "Audio device")
    var separate: SeparateInputOptions

    @OptionGroup(title: "Audio device")
    var check: SoundCheckOptions

    @OptionGroup(title: "Simulated device")
    var simulated: SimulatedOptions

    @OptionGroup(title: "Simulated device")
    var simulatedSpeaker: SimulatedSpeakerOptions

    @OptionGroup(title: "Recording")
    var recording: RecordingOptions

    @OptionGroup(title: "Accompaniment")
    var accompaniment: AccompanimentOptions

    @OptionGroup var existing: OverwriteOptions

    @Option(
        help: ArgumentHelp("Save received files to this existing folder.", valueName: "folder"),
        completion: .directory)
    var receive: String?

    @Option(
        help: ArgumentHelp(
            "Leave this long after someone else is first in the room: 30s, 2m, 1h. Until then, a host waits.",
            valueName: "time"),
        transform: TimeArgument.above0)
    var duration: Double?

    @Flag(name: .lettered("json"), help: "Print a JSON report on standard output after the call.")
    var json = false

    /// The folder of duets; nil for the default.
    var duetFolder: String?
    /// True for a call of `earshot duet`.
    var isDuet = false
    /// The songs of a duet that follow the first one, in order.
    var nextSongs: [NextSong.Named] = []
    /// True if the user agrees to duets without being asked.
    var agreesToDuet = false
    /// False if the room's announcement does not name the song.
    var announcesSong = true

    private enum CodingKeys: String, CodingKey {
        case coding, voice, card, separate, check, simulated, simulatedSpeaker, recording, accompaniment, existing,
            receive,
            duration, json
    }

    func validate() throws {
        if hear != nil, card.device != .simulated { throw ValidationError("--hear needs --device simulated") }
        if simulatedSpeaker.sing, speak == nil { throw ValidationError("--sing needs --speak") }
        if separateInput {
            if card.device == .simulated { throw ValidationError("--separate-input is for real sound cards") }
            if voice.voiceProcessing == .on {
                throw ValidationError(
                    "--voice-processing on needs one device for input and output. Omit --separate-input.")
            }
            if card.clientName.utf8.count > 60 {
                throw ValidationError("--client-name must be 1 to 60 bytes long with --separate-input")
            }
        }
        try simulated.check(card.device)
    }

    /// Prefers the least delay, unless the user chose otherwise.
    mutating func preferDuet() {
        coding.codec = coding.codec ?? .pcm
        coding.dial = coding.dial ?? .sing
        isDuet = true
    }

    var channels: Int { coding.channels }
    var hear: String? { simulatedSpeaker.hear }
    var separateInput: Bool { separate.separateInput }
    var noCheck: Bool { check.noCheck }
    var speak: String? { simulated.speak }
    var drift: Double { simulated.drift }
    var cardScript: CardScript? { simulated.cardScript }

    /// Returns the command that plays a file on the loudspeaker of the call.
    func player(of path: String) throws -> PlayCommand {
        var player = try PlayCommand.parse([path])
        player.card.card = card.system.card
        player.card.loudspeaker = card.loudspeaker
        return player
    }

    /// Returns the local capabilities and wishes for the offer or the answer.
    func preferences(deviceRate: Double, deviceBlock: Int) -> CallPreferences {
        var preferences = CallPreferences(
            codec: coding.codec, channelCount: channels, opusFrameMilliseconds: coding.frame, bitRate: coding.bitrate,
            deviceRate: deviceRate, deviceBlock: deviceBlock)
        preferences.latencyProfile = coding.latencyProfile
        preferences.changesRate = coding.adapt
        return preferences
    }
}

/// The options of a separate microphone.
struct SeparateInputOptions: ParsableArguments {
    @Flag(
        help:
            "Open the microphone as a separate device (JACK: client NAME-in). One block less delay behind a mixer; no voice processing."
    )
    var separateInput = false
}

/// The option that skips the sound check.
struct SoundCheckOptions: ParsableArguments {
    @Flag(help: "Skip the sound check, which a terminal shows before the first call on a device.")
    var noCheck = false
}

/// The loudspeaker options of the simulated device.
struct SimulatedSpeakerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Audio file to record the simulated loudspeaker to.", valueName: "file"),
        completion: .file(extensions: SoundFileOutput.endings))
    var hear: String?

    @Flag(help: "Begin --speak with the first sound of the simulated loudspeaker, such as a count-in.")
    var sing = false
}
