// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotLiveCall
import EarshotPlayout

struct MuteCall: CallControlCommand {
    static let configuration = CommandConfiguration(commandName: "mute", abstract: "Mute your microphone.")

    static let examples = [CommandExample("Mute your microphone", "earshot call mute")]

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .setMuted(true) }
    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String { "Muted." }
}

struct UnmuteCall: CallControlCommand {
    static let configuration = CommandConfiguration(commandName: "unmute", abstract: "Unmute your microphone.")

    static let examples = [CommandExample("Unmute your microphone", "earshot call unmute")]

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .setMuted(false) }
    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String { "Unmuted." }
}

struct SetCallVolume: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "volume", abstract: "Set how loud you hear a participant, or all together.")

    static let examples = [
        CommandExample("Hear Bob at half the volume", "earshot call volume Bob 50%"),
        CommandExample("Hear everyone 6 dB quieter", "earshot call volume all -6dB"),
    ]

    @Argument(help: "A participant's name or number, or 'all' for the whole playback.")
    var person: String

    @Argument(
        help: ArgumentHelp("0% to 800%, or -60dB to 18dB; 100% and 0dB are as sent.", valueName: "volume"),
        transform: VolumeArgument.gain)
    var volume: Float

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    private var isForAll: Bool { person == "all" }

    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        guard !isForAll else { return .setOutputVolume(volume) }
        return .setVolume(volume, of: try ListedPerson.participant(person, status).id)
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        if isForAll { return VolumeSentences.playback(volume) }
        return VolumeSentences.volume(volume, of: try ListedPerson.participant(person, status).name)
    }
}

struct HearInCall: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "hear", abstract: "Hear a participant again that you silenced.")

    static let examples = [CommandExample("Hear Bob again", "earshot call hear Bob")]

    @Argument(help: "A participant's name or number.")
    var person: String

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        .setHeard(true, of: try ListedPerson.participant(person, status).id)
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        VolumeSentences.heard(try ListedPerson.participant(person, status).name)
    }
}

struct SilenceInCall: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "silence", abstract: "Silence a participant for yourself. Others hear it.")

    static let examples = [CommandExample("Silence Bob for yourself", "earshot call silence Bob")]

    @Argument(help: "A participant's name or number.")
    var person: String

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        .setHeard(false, of: try ListedPerson.participant(person, status).id)
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        let name = try ListedPerson.participant(person, status).name
        return VolumeSentences.unheard(name, command: "earshot call hear \(HostCommand.quoted(name))")
    }
}

struct SetCallDial: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "dial", abstract: "Set the limit of the jitter buffer.")

    static let examples = [CommandExample("Sing together, with the least delay", "earshot call dial sing")]

    @Argument(
        help: ArgumentHelp(
            "sing (15 ms), talk (80 ms), listen (500 ms), or 0 (shortest) to 1 (safest).", valueName: "dial"),
        completion: .list(LatencyProfile.presets.map(\.name)), transform: DialArgument.profile)
    var profile: LatencyProfile

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .setLatencyProfile(profile) }
    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String {
        SettingSentences.dial(profile)
    }
}

struct SetCallVoiceProcessing: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "voice-processing", abstract: "Turn echo and noise removal on or off.")

    static let examples = [CommandExample("Remove echo and noise", "earshot call voice-processing on")]

    @Argument(help: "auto (only with a loudspeaker), on or off.")
    var mode: VoiceProcessingMode

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .setVoiceProcessing(mode) }
    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String {
        SettingSentences.voiceProcessing(mode)
    }
}
