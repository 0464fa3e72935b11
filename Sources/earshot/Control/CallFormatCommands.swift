// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioDevices
import EarshotCall
import EarshotLiveCall
import EarshotMediaTransport

struct SetCallCodec: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "codec", abstract: "Change the codec during the call.",
        discussion: """
            Between opus and pcm at 48 kHz, and between packet lengths of opus, the sound continues without a gap. Participants without the codec use another one.
            """)

    static let examples = [
        CommandExample("Change to the codec with the lowest delay", "earshot call codec pcm"),
        CommandExample("Send Opus in packets of 5 ms", "earshot call codec opus --frame 5"),
        CommandExample("Leave the choice to the program", "earshot call codec auto"),
    ]

    @Argument(
        help: ArgumentHelp("opus, pcm, opus-custom, aac, or auto for the program's choice.", valueName: "codec"),
        completion: .list(Codec.allCases.map(\.rawValue) + ["auto"]), transform: { try CodecArgument($0) })
    var codec: CodecArgument

    @Option(
        help: ArgumentHelp(
            "Opus packet length in ms: 2.5, 5, 10 or 20. [default: the remote peer's choice, or 10]", valueName: "ms"))
    var frame: Double?

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        if let frame, !CallPreferences.opusPacketTimes.contains(frame) {
            throw ValidationError("--frame must be 2.5, 5, 10 or 20 (ms)")
        }
        if frame != nil, codec.codec == .pcm || codec.codec == .aac { throw ValidationError("--frame needs opus") }
    }

    func command(_ status: StatusDocument) -> LiveCallCommand { .setCodec(codec.codec, frameMilliseconds: frame) }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String {
        SettingSentences.codec(codec.codec, packetMilliseconds: frame)
    }
}

/// A codec, or the program's choice.
struct CodecArgument {
    /// Nil for the program's choice.
    let codec: Codec?

    init(_ argument: String) throws {
        codec = Codec(rawValue: argument)
        guard codec != nil || argument == "auto" else {
            throw ValidationError("use opus, pcm, opus-custom, aac or auto")
        }
    }
}

struct SetCallDevice: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Change the microphone and the loudspeaker during the call.",
        discussion: """
            If you name one device, the other one stays. The sound system stays the same. A recording is silent during the change.
            """)

    static let examples = [
        CommandExample("Move the call to a headset", "earshot call device --microphone Headset --speaker Headset"),
        CommandExample("Change only the microphone", "earshot call device --microphone Webcam"),
        CommandExample("Return to the system's default devices", "earshot call device"),
    ]

    @Option(
        name: .lettered("microphone"),
        help: ArgumentHelp(
            "Microphone: its name in 'earshot devices', or a part of it.", valueName: "name"))
    var microphone: String?

    @Option(
        name: .lettered("speaker"),
        help: ArgumentHelp(
            "Loudspeaker or headphones: the name, or a part of it.", valueName: "name"))
    var speaker: String?

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    /// The seconds in which devices are opened.
    private static let timeout = 3.0

    func command(_ status: StatusDocument) -> LiveCallCommand {
        guard microphone != nil || speaker != nil else { return .setDevice(input: nil, output: nil) }
        return .setDevice(
            input: microphone ?? status.device?.input?.id, output: speaker ?? status.device?.output?.id)
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        let event = try client.event(within: Self.timeout) { name, event in
            name == .device && ["routeChanged", "deviceUnavailable"].contains(event.deviceEvent?.kind)
        }
        guard let event else { return status.device.map { CallDeviceLine($0).text } ?? "Audio: not running" }
        if event.deviceEvent?.kind == "deviceUnavailable" {
            throw Failure(EventSentences.text(event), status: Failure.unavailable)
        }
        return EventSentences.text(event)
    }
}
