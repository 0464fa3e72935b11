import ArgumentParser
import AudioDevices
import AudioSession

/// Where sound goes: what a command that only plays has of ``DeviceOptions``.
struct OutputOptions: ParsableArguments {
    @Option(
        help:
            "The sound system: pipewire, jack, alsa, or simulated. Default: PipeWire where it runs, else JACK, else ALSA."
    )
    var device: AudioBackend?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The loudspeaker or headphones, by name in `earshot devices` or a part of it. Default: the system's.",
            valueName: "name"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The loudspeaker's channels to use, from 1, such as 3,4. Default: the first two.", valueName: "list"))
    var outputMap: ChannelList?

    @Option(
        help: ArgumentHelp("Frames a block, 16 to 4096. Default: what lasts 20 ms.", valueName: "frames"))
    var block: Int?

    @Option(help: ArgumentHelp("Frames a second. Default: the device's.", valueName: "hertz"))
    var deviceRate: Double?

    @Option(
        help:
            "Other programs' sound meanwhile: mix, duck (quieter), pause (players are asked to), exclude (from the device)."
    )
    var others = AudioSession.OtherAudio.mix

    @Option(
        help: ArgumentHelp("JACK: the server's name; else JACK_DEFAULT_SERVER or the default one.", valueName: "name"))
    var jackServer: String?

    @Option(help: ArgumentHelp("PipeWire, JACK: the client's name.", valueName: "name"))
    var clientName = "earshot"

    @Flag(inversion: .prefixedNo, help: "JACK: connect to the loudspeaker.")
    var connect = true

    func validate() throws { try all().system.validate() }

    /// The same as the options of commands that do both.
    func all() throws -> DeviceOptions {
        var all = try DeviceOptions.parse([])
        all.device = device
        all.output = output
        all.outputMap = outputMap
        all.block = block
        all.rate = deviceRate
        all.others = others
        all.jackServer = jackServer
        all.clientName = clientName
        all.connect = connect
        return all
    }
}
