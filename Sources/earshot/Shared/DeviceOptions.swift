// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioDevices
import EarshotAudioSession

extension AudioBackend: ExpressibleByArgument {}
extension AudioSession.OtherAudio: ExpressibleByArgument {}

/// The options that select and configure the sound system, except for the sample rate.
struct CardOptions: ParsableArguments {
    @Option(
        name: .lettered("device"),
        help:
            "Audio system: pipewire, jack, alsa or simulated. [default: the first that runs, in this order]"
    )
    var device: AudioBackend?

    @Option(
        help: ArgumentHelp(
            "Frames per block, 16 to 4096. [default: 5 ms; record and play: 20 ms; JACK: the server's; simulated: 256]",
            valueName: "frames"))
    var block: Int?

    @Option(
        help: ArgumentHelp(
            "Other programs' audio: mix, duck (lower it), pause (ask players to), exclude (silence or lock out).",
            valueName: "mode"))
    var others = AudioSession.OtherAudio.mix

    @Option(
        help: ArgumentHelp("JACK server. [default: JACK_DEFAULT_SERVER, or the default server]", valueName: "name"))
    var jackServer: String?

    @Option(
        help: ArgumentHelp("Client name in PipeWire and JACK.", valueName: "name"))
    var clientName = "earshot"

    @Flag(inversion: .prefixedNo, help: "Connect the JACK client to microphone and loudspeaker.")
    var connect = true

    func validate() throws {
        if let block, !(16...4096).contains(block) { throw ValidationError("--block must be 16 to 4096 frames") }
        if let device, device != .jack {
            if jackServer != nil { throw ValidationError("--jack-server needs --device jack") }
            if !connect { throw ValidationError("--no-connect needs --device jack") }
        }
        if !(1..<64).contains(clientName.utf8.count) {
            throw ValidationError("--client-name must be 1 to 63 bytes long")
        }
    }
}

/// The options that select and configure the sound system.
struct SystemOptions: ParsableArguments {
    @OptionGroup var card: CardOptions

    @Option(
        help: ArgumentHelp(
            "Sample rate in Hz, 8000 to 192000. [default: the device's; simulated: 48000, with AAC 44100]",
            valueName: "hertz"))
    var rate: Double?

    func validate() throws { try Self.check(rate, "--rate") }

    static func check(_ rate: Double?, _ option: String) throws {
        if let rate, !(8_000...192_000).contains(rate) || rate != rate.rounded() {
            throw ValidationError("\(option) must be a whole number from 8000 to 192000 (Hz)")
        }
    }
}

/// The options of the microphone.
struct MicrophoneOptions: ParsableArguments {
    @Option(
        name: .lettered("microphone"),
        help: ArgumentHelp(
            "Microphone: its name in 'earshot devices', or a part of it. [default: the system's]",
            valueName: "name"))
    var microphone: String?

    @Option(
        help: ArgumentHelp(
            "Microphone channels to capture, counted from 1: 3, or 1,2. [default: the first]", valueName: "list"))
    var microphoneChannels: ChannelList?
}

/// The options of the loudspeaker.
struct LoudspeakerOptions: ParsableArguments {
    @Option(
        name: .lettered("speaker"),
        help: ArgumentHelp(
            "Loudspeaker or headphones: the name, or a part of it. [default: the system's]", valueName: "name"))
    var speaker: String?

    @Option(
        help: ArgumentHelp(
            "Loudspeaker channels to play on, counted from 1: 3,4. [default: the first two]", valueName: "list"))
    var speakerChannels: ChannelList?
}

/// The sound card options that commands with sound share. A command that only records has all except the loudspeaker's.
struct DeviceOptions: ParsableArguments {
    @OptionGroup var system: SystemOptions
    @OptionGroup var microphone: MicrophoneOptions
    @OptionGroup var loudspeaker: LoudspeakerOptions
}

/// Shortcuts to single options in the groups of ``DeviceOptions``.
extension DeviceOptions {
    var device: AudioBackend? { system.device }
    var block: Int? { system.block }
    var rate: Double? { system.rate }
    var clientName: String { system.card.clientName }
    var input: String? { microphone.microphone }
    var output: String? { loudspeaker.speaker }

    func makeSystem() throws -> any AudioSystem { try system.makeSystem() }

    /// Returns the configuration of a session on a system, with devices found by name.
    func configuration(
        inputChannelCount: Int, outputChannelCount: Int, on system: any AudioSystem
    ) throws -> AudioSession.Configuration {
        var configuration = try self.system.configuration(on: system)
        try microphone.apply(to: &configuration, channelCount: inputChannelCount, on: system)
        try loudspeaker.apply(to: &configuration, channelCount: outputChannelCount, on: system)
        return configuration
    }

    /// Returns warnings for requested channels that the device lacks.
    func mapWarnings(_ route: AudioRoute) -> [String] {
        [microphone.mapWarning(route), loudspeaker.mapWarning(route)].compactMap { $0 }
    }
}

extension SystemOptions {
    var device: AudioBackend? { card.device }
    var block: Int? { card.block }

    /// Opens the selected sound system. A command with a simulated card opens a simulated system itself.
    func makeSystem() throws -> any AudioSystem { try card.makeSystem() }

    /// Returns the configuration of a session on a system, without its devices.
    func configuration(on system: any AudioSystem) throws -> AudioSession.Configuration {
        var configuration = try card.configuration(on: system)
        configuration.preferredSampleRate = rate
        return configuration
    }
}

extension CardOptions {
    /// The selected sound system; `--jack-server` selects JACK.
    var backend: AudioBackend? { device ?? (jackServer == nil ? nil : .jack) }

    /// Opens the selected sound system. A command with a simulated card opens a simulated system itself.
    func makeSystem() throws -> any AudioSystem {
        if backend == .jack { return JACKSystem(serverName: jackServer, connects: connect) }
        let system = try AudioSystems.make(backend)
        // --no-connect also applies to a JACK server that was found without --device jack.
        return system.backend == .jack && !connect ? JACKSystem(connects: false) : system
    }

    /// Returns the configuration of a session on a system, without its devices and their rate.
    func configuration(on system: any AudioSystem) throws -> AudioSession.Configuration {
        if let failure = system.failure { throw failure }
        var configuration = AudioSession.Configuration()
        configuration.clientName = clientName
        configuration.otherAudio = others
        configuration.preferredBlockFrameCount = block
        return configuration
    }
}

extension MicrophoneOptions {
    func apply(
        to configuration: inout AudioSession.Configuration, channelCount: Int, on system: any AudioSystem
    ) throws {
        configuration.inputChannelMap = microphoneChannels?.channels
        configuration.inputChannelCount = microphoneChannels?.channels.count ?? channelCount
        configuration.preferredInput = try microphone.map { try system.devices.device(named: $0, .input).id }
    }

    func mapWarning(_ route: AudioRoute) -> String? {
        microphoneChannels?.warning(
            "--microphone-channels", route.input?.name, route.input?.inputChannelCount, "captured")
    }
}

extension LoudspeakerOptions {
    func apply(
        to configuration: inout AudioSession.Configuration, channelCount: Int, on system: any AudioSystem
    ) throws {
        configuration.outputChannelMap = speakerChannels?.channels
        configuration.outputChannelCount = speakerChannels?.channels.count ?? channelCount
        configuration.preferredOutput = try speaker.map { try system.devices.device(named: $0, .output).id }
    }

    func mapWarning(_ route: AudioRoute) -> String? {
        speakerChannels?.warning("--speaker-channels", route.output?.name, route.output?.outputChannelCount, "heard")
    }
}

extension ChannelList {
    fileprivate func warning(_ option: String, _ name: String?, _ count: Int?, _ word: String) -> String? {
        guard let name, let count, count > 0, let greatest = channels.max(), greatest >= count else { return nil }
        return
            "\(option) \(greatest + 1): '\(TerminalText.sanitized(name))' has \(count) channel\(count == 1 ? "" : "s"), so nothing is \(word) there. Use 1 to \(count)."
    }
}

/// A list of channels on the command line. Users count channels from 1; ``channels`` counts them from 0.
struct ChannelList: ExpressibleByArgument, Hashable, Sendable {
    let channels: [Int]

    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map {
            Int($0.filter { $0 != " " })
        }
        guard (1...32).contains(numbers.count), numbers.allSatisfy({ $0.map { (1...1_024).contains($0) } ?? false })
        else { return nil }
        channels = numbers.compactMap { $0.map { $0 - 1 } }
    }
}
