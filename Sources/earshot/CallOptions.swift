import ArgumentParser
import Call
import MediaTransport

extension Codec: ExpressibleByArgument {}

/// Which kind of sound card.
enum DeviceKind: String, ExpressibleByArgument, CaseIterable {
    case jack
    case simulated
}

/// What `host` and `join` share.
struct CallOptions: ParsableArguments {
    @Option(
        help:
            "Codec: opus (least traffic), pcm (least delay), aac (44.1 kHz, 64 kb/s). Default: the host takes what the guest offers first, opus."
    )
    var codec: Codec?

    @Option(help: ArgumentHelp("Channels to send, 1 or 2.", valueName: "count"))
    var channels = 1

    @Option(
        help: ArgumentHelp(
            "Opus packet length in ms: 2.5, 5, 10 or 20. Default: what the far side likes, else 10.", valueName: "ms"))
    var frame: Double?

    @Option(
        help: ArgumentHelp(
            "Bits a second for aac (default 64000 a channel) and opus (default 48000 a channel; 64000, 96000, 128000 with --frame 10, 5, 2.5).",
            valueName: "bits"))
    var bitrate: Int?

    @Option(
        help:
            "The sound card: jack, or simulated (plays --speak into its microphone, writes its loudspeaker to --hear).")
    var device = DeviceKind.jack

    @Option(
        help: ArgumentHelp(
            "Frames a block. The simulated card's default is 256; JACK's server decides its own.", valueName: "frames"))
    var block: Int?

    @Option(
        help: ArgumentHelp(
            "Frames a second. The simulated card's default is 48000, with aac 44100; JACK's server decides its own.",
            valueName: "hertz"))
    var rate: Double?

    @Option(
        help: ArgumentHelp("Simulated card: the file its microphone hears (WAV, FLAC, Ogg …).", valueName: "file"),
        completion: .file())
    var speak: String?

    @Option(
        help: ArgumentHelp("Simulated card: the WAV file to write what its loudspeaker says.", valueName: "file"),
        completion: .file(extensions: ["wav"]))
    var hear: String?

    @Option(help: ArgumentHelp("Simulated card: how fast its crystal runs, in parts per million.", valueName: "ppm"))
    var drift = 0.0

    @Option(
        help: ArgumentHelp("JACK: the server's name; else JACK_DEFAULT_SERVER or the default one.", valueName: "name"))
    var jackServer: String?

    @Option(help: ArgumentHelp("JACK: the client's name.", valueName: "name"))
    var jackName = "earshot"

    @Flag(inversion: .prefixedNo, help: "JACK: connect to the system's microphone and loudspeaker.")
    var connect = true

    @Option(help: ArgumentHelp("End the call after this many seconds.", valueName: "seconds"))
    var duration: Double?

    @Flag(help: "Print one JSON report on standard output when the call has ended.")
    var json = false

    func validate() throws {
        guard (1...2).contains(channels) else { throw ValidationError("--channels takes 1 or 2") }
        if let frame, ![2.5, 5, 10, 20].contains(frame) {
            throw ValidationError("--frame takes 2.5, 5, 10 or 20 (ms)")
        }
        if let bitrate, !(6_000...510_000).contains(bitrate) {
            throw ValidationError("--bitrate takes 6000 to 510000 bits a second")
        }
        if let block, !(16...4096).contains(block) { throw ValidationError("--block takes 16 to 4096 frames") }
        if let rate, !(8_000...192_000).contains(rate) { throw ValidationError("--rate takes 8000 to 192000 Hz") }
        if let duration, !(duration > 0 && duration <= 86_400 * 365) {
            throw ValidationError("--duration takes a number of seconds above 0")
        }
        if device == .jack {
            if speak != nil || hear != nil { throw ValidationError("--speak and --hear belong to --device simulated") }
            if drift != 0 { throw ValidationError("--drift belongs to --device simulated") }
        }
        guard abs(drift) <= 10_000 else { throw ValidationError("--drift takes -10000 to 10000 ppm") }
    }

    /// What this end can do and would like, for the offer or the answer.
    func preferences(deviceRate: Double, deviceBlock: Int) -> CallPreferences {
        CallPreferences(
            codec: codec, channelCount: channels, opusFrameMilliseconds: frame, bitRate: bitrate,
            deviceRate: deviceRate,
            deviceBlock: deviceBlock)
    }
}
