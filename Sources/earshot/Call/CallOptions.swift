// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotMediaTransport

/// The options that `host` and `join` share.
struct CallOptions: ParsableArguments {
    @OptionGroup var coding: CodecOptions

    @OptionGroup(title: "Your voice")
    var voice: VoiceOptions

    @OptionGroup(title: "Sound card")
    var card: DeviceOptions

    @Flag(
        help:
            "Open the microphone as a device of its own, on JACK a client named NAME-in: a block less where a mixer both feeds and hears this program; two cards without a common clock. No voice processing."
    )
    var separateInput = false

    @OptionGroup(title: "Sound card")
    var simulated: SimulatedOptions

    @Option(
        help: ArgumentHelp("Simulated card: the file to write what its loudspeaker says.", valueName: "file"),
        completion: .file(extensions: SoundFileOutput.endings))
    var hear: String?

    @Option(
        help: ArgumentHelp("Take files that others send, into this folder.", valueName: "folder"),
        completion: .directory)
    var receive: String?

    @Option(help: ArgumentHelp("End this many seconds after the first of the others came.", valueName: "seconds"))
    var duration: Double?

    @Flag(help: "Print one JSON report on standard output when the call has ended.")
    var json = false

    func validate() throws {
        if let duration, !(duration > 0 && duration <= 86_400 * 365) {
            throw ValidationError("--duration takes a number of seconds above 0")
        }
        if hear != nil, card.device != .simulated { throw ValidationError("--hear belongs to --device simulated") }
        if separateInput {
            if card.device == .simulated { throw ValidationError("--separate-input is for real sound cards") }
            if voice.voiceProcessing == .on {
                throw ValidationError(
                    "--voice-processing on needs one device for both ways: leave out --separate-input")
            }
            if card.clientName.utf8.count > 60 {
                throw ValidationError("--client-name takes 1 to 60 bytes with --separate-input")
            }
        }
        try simulated.check(card.device)
    }

    var channels: Int { coding.channels }
    var speak: String? { simulated.speak }
    var drift: Double { simulated.drift }
    var cardScript: CardScript? { simulated.cardScript }

    /// Returns this end's capabilities and wishes, for the offer or the answer.
    func preferences(deviceRate: Double, deviceBlock: Int) -> CallPreferences {
        var preferences = CallPreferences(
            codec: coding.codec, channelCount: channels, opusFrameMilliseconds: coding.frame, bitRate: coding.bitrate,
            deviceRate: deviceRate, deviceBlock: deviceBlock)
        preferences.dial = coding.dial
        preferences.changesRate = coding.adapt
        return preferences
    }
}
