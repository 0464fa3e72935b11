// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioDevices
import EarshotAudioSession

extension AudioBackend: ExpressibleByArgument {}
extension AudioSession.OtherAudio: ExpressibleByArgument {}

/// The sound system, and what is asked of it but for the rate.
struct CardOptions: ParsableArguments {
    @Option(
        help:
            "The sound system: pipewire, jack, alsa, or simulated. Default: PipeWire where it runs, else JACK, else ALSA."
    )
    var device: AudioBackend?

    @Option(
        help: ArgumentHelp(
            "Frames a block, 16 to 4096. Default: what lasts 5 ms, 20 to record and to play; the simulated card's 256. JACK's server decides its own.",
            valueName: "frames"))
    var block: Int?

    @Option(
        help:
            "Other programs' sound meanwhile: mix, duck (quieter), pause (players are asked to), exclude (from the device)."
    )
    var others = AudioSession.OtherAudio.mix

    @Option(
        help: ArgumentHelp("JACK: the server's name; else JACK_DEFAULT_SERVER or the default one.", valueName: "name"))
    var jackServer: String?

    @Option(
        name: [.customLong("client-name"), .customLong("jack-name")],
        help: ArgumentHelp("PipeWire, JACK: the client's name.", valueName: "name"))
    var clientName = "earshot"

    @Flag(inversion: .prefixedNo, help: "JACK: connect to the microphone and loudspeaker.")
    var connect = true

    func validate() throws {
        if let block, !(16...4096).contains(block) { throw ValidationError("--block takes 16 to 4096 frames") }
        if let device, device != .jack {
            if jackServer != nil { throw ValidationError("--jack-server belongs to --device jack") }
            if !connect { throw ValidationError("--no-connect belongs to --device jack") }
        }
        if !(1..<64).contains(clientName.utf8.count) { throw ValidationError("--client-name takes 1 to 63 bytes") }
    }
}

/// The sound system, and what is asked of it.
struct SystemOptions: ParsableArguments {
    @OptionGroup var card: CardOptions

    @Option(
        help: ArgumentHelp(
            "Frames a second. Default: the device's; the simulated card's 48000, in a call with AAC 44100. JACK's server decides its own.",
            valueName: "hertz"))
    var rate: Double?

    func validate() throws { try Self.check(rate, "--rate") }

    static func check(_ rate: Double?, _ option: String) throws {
        if let rate, !(8_000...192_000).contains(rate) || rate != rate.rounded() {
            throw ValidationError("\(option) takes 8000 to 192000 Hz, without a fraction")
        }
    }
}

/// The source of sound.
struct MicrophoneOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The microphone, by its name in `earshot devices` or a part of it. Default: the system's.",
            valueName: "name"))
    var input: String?

    @Option(
        help: ArgumentHelp(
            "The microphone's channels to take, from 1, such as 3 or 1,2. Default: the first ones.", valueName: "list"))
    var inputMap: ChannelList?
}

/// The destination of sound.
struct LoudspeakerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The loudspeaker or headphones, by name or a part of it. Default: the system's.", valueName: "name"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The loudspeaker's channels to use, from 1, such as 3,4. Default: the first two.", valueName: "list"))
    var outputMap: ChannelList?
}

/// Which sound card, and what is asked of it: the options that commands with sound share. One that only records has all but the
/// loudspeaker's.
struct DeviceOptions: ParsableArguments {
    @OptionGroup var system: SystemOptions
    @OptionGroup var microphone: MicrophoneOptions
    @OptionGroup var loudspeaker: LoudspeakerOptions
}

/// Parts of ``DeviceOptions``, by their names on the command line.
extension DeviceOptions {
    var device: AudioBackend? { system.device }
    var block: Int? { system.block }
    var rate: Double? { system.rate }
    var clientName: String { system.card.clientName }
    var input: String? { microphone.input }
    var inputMap: ChannelList? { microphone.inputMap }
    var output: String? { loudspeaker.output }
    var outputMap: ChannelList? { loudspeaker.outputMap }

    func makeSystem() throws -> any AudioSystem { try system.makeSystem() }

    /// Returns the configuration of a session on a system, with names looked up among its devices.
    func configuration(
        inputChannelCount: Int, outputChannelCount: Int, on system: any AudioSystem
    ) throws -> AudioSession.Configuration {
        var configuration = try self.system.configuration(on: system)
        try microphone.apply(to: &configuration, channelCount: inputChannelCount, on: system)
        try loudspeaker.apply(to: &configuration, channelCount: outputChannelCount, on: system)
        return configuration
    }

    /// Channels that were asked for and that the device has not.
    func mapWarnings(_ route: AudioRoute) -> [String] {
        [microphone.mapWarning(route), loudspeaker.mapWarning(route)].compactMap { $0 }
    }
}

extension SystemOptions {
    var device: AudioBackend? { card.device }
    var block: Int? { card.block }

    /// Any system but the simulated one, whose cards are the command's affair.
    func makeSystem() throws -> any AudioSystem { try card.makeSystem() }

    /// Returns the configuration of a session on a system, but for its devices.
    func configuration(on system: any AudioSystem) throws -> AudioSession.Configuration {
        var configuration = try card.configuration(on: system)
        configuration.preferredSampleRate = rate
        return configuration
    }
}

extension CardOptions {
    /// The sound system that is meant; `--jack-server` says so too.
    var backend: AudioBackend? { device ?? (jackServer == nil ? nil : .jack) }

    /// Any system but the simulated one, whose cards are the command's affair.
    func makeSystem() throws -> any AudioSystem {
        if backend == .jack { return JACKSystem(serverName: jackServer, connects: connect) }
        let system = try AudioSystems.make(backend)
        // Found, not named: --no-connect counts all the same.
        return system.backend == .jack && !connect ? JACKSystem(connects: false) : system
    }

    /// Returns the configuration of a session on a system, but for its devices and their rate.
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
        configuration.inputChannelMap = inputMap?.channels
        configuration.inputChannelCount = inputMap?.channels.count ?? channelCount
        configuration.preferredInput = try input.map { try system.devices.device(named: $0, .input).id }
    }

    func mapWarning(_ route: AudioRoute) -> String? {
        inputMap?.warning("--input-map", route.input?.name, route.input?.inputChannelCount, "captured")
    }
}

extension LoudspeakerOptions {
    func apply(
        to configuration: inout AudioSession.Configuration, channelCount: Int, on system: any AudioSystem
    ) throws {
        configuration.outputChannelMap = outputMap?.channels
        configuration.outputChannelCount = outputMap?.channels.count ?? channelCount
        configuration.preferredOutput = try output.map { try system.devices.device(named: $0, .output).id }
    }

    func mapWarning(_ route: AudioRoute) -> String? {
        outputMap?.warning("--output-map", route.output?.name, route.output?.outputChannelCount, "heard")
    }
}

extension ChannelList {
    fileprivate func warning(_ option: String, _ name: String?, _ count: Int?, _ word: String) -> String? {
        guard let name, let count, count > 0, let greatest = channels.max(), greatest >= count else { return nil }
        return
            "\(option) \(greatest + 1): '\(TerminalText.sanitized(name))' has \(count) channel\(count == 1 ? "" : "s"), so nothing is \(word) there; name 1 to \(count)"
    }
}

/// Channels as people count them, from 1; held from 0.
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
