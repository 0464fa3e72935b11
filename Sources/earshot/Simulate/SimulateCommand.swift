// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioContainers
import EarshotSimulation
import Foundation

extension CallSimulation.Repair: ExpressibleByArgument {}

struct SimulateCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Simulate a call over a chosen network.",
        discussion: """
            Runs this program's own code from microphone to loudspeaker in virtual time, with two to eight participants; docs/simulation.md describes it. Equal options give equal bytes.
            """)

    static let examples = [
        CommandExample("Simulate good Wi-Fi", "earshot simulate --codec pcm --profile wifi-good --drift 100"),
        CommandExample(
            "Replay a network trace and save the sound",
            "earshot simulate --trace walk.txt --input speech.wav --output heard"),
    ]

    @Option(help: ArgumentHelp("Participants in the call, 2 to 8.", valueName: "count"))
    var peers = 2

    @OptionGroup(title: "Network") var network: SimulatedNetworkOptions

    @OptionGroup(title: "Codec and delay") var coding: CodecOptions

    @Option(
        help: ArgumentHelp(
            "Repair of lost packets: all (redundancy and retransmission, as in a real call), codec (Opus in-band FEC alone), none.",
            valueName: "name"))
    var repair = CallSimulation.Repair.all

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Audio files to use as the microphones, looped. [default: speech-like noise]", valueName: "file"),
        completion: .file())
    var input: [String] = []

    @Option(
        name: .lettered("output"),
        help: ArgumentHelp(
            "Folder for WAV files of each microphone and loudspeaker, about 700 MB per participant and hour.",
            valueName: "folder"
        ),
        completion: .directory)
    var output: String?

    @OptionGroup(title: "Audio devices") var cards: SimulatedCardsOptions

    @Option(
        help: ArgumentHelp("Length of the call: 30s, 10m, 1h. [default: 1m]", valueName: "time"),
        transform: TimeArgument.above0)
    var duration = 60.0

    @Option(
        help: ArgumentHelp("Time of the call at which measuring starts. [default: 0]", valueName: "time"),
        transform: TimeArgument.from0)
    var from = 0.0

    @Option(help: ArgumentHelp("Seed of the network's random events.", valueName: "number"))
    var seed: UInt64 = 1

    @Flag(help: "Encrypt the packets as in a real call; slower.")
    var encrypt = false

    @Flag(name: .lettered("json"), help: "Print a JSON report.")
    var json = false

    @OptionGroup var existing: OverwriteOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        guard CallSimulation.peerCounts.contains(peers) else { throw ValidationError("--peers must be 2 to 8") }
        if repair == .codec, let codec = coding.codec, codec != .opus {
            throw ValidationError("--repair codec needs --codec opus")
        }
        guard from >= 0, from < duration else {
            throw ValidationError("--from must be before the end of the call at \(Self.number(duration)) s")
        }
        guard input.count <= peers else {
            throw ValidationError("\(input.count) files for \(peers) peers; supported: one per peer")
        }
        try cards.check(peers: peers)
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            let configuration = try configuration()
            let files = outputFiles.map(SharedFile.init)
            var simulation = try CallSimulation(configuration)
            let elapsed = try run(&simulation)
            for file in files { file.share() }
            let report = SimulateReport(self, simulation.report)
            try Terminal.output(json ? report.json() : report.text)
            Terminal.say(
                String(
                    format: "%.6g s in %.2f s: %.0f times real time", simulation.elapsed, elapsed,
                    simulation.elapsed / max(elapsed, 1e-9)))
            if Interrupt.isRequested { throw ExitCodes.interrupted }
        }
    }

    /// Runs the simulation until its end or Ctrl-C, and shows the progress.
    /// - Returns: the real seconds that the simulation took.
    private func run(_ simulation: inout CallSimulation) throws -> Double {
        var progress = RenderProgress()
        defer { progress.clear() }
        let began = HostTime.now()
        let total = duration
        var simulatedSeconds = 0.0
        while simulatedSeconds < total, !Interrupt.isRequested {
            simulatedSeconds = min(total, simulatedSeconds + 1)
            try simulation.run(until: simulatedSeconds)
            progress.show(simulatedSeconds, of: total)
        }
        try simulation.close()
        return HostTime.now().seconds(since: began)
    }

    private func configuration() throws -> CallSimulation.Configuration {
        var configuration = CallSimulation.Configuration()
        configuration.codec = coding.codec
        configuration.channelCount = coding.channels
        configuration.opusFrameMilliseconds = coding.frame
        configuration.bitRate = coding.bitrate
        configuration.latencyProfile = coding.latencyProfile
        configuration.changesRate = coding.adapt
        configuration.repair = repair
        configuration.network = try network.conditions()
        configuration.isEncrypted = encrypt
        configuration.measuresFrom = from
        configuration.seed = seed
        configuration.peers = try cards.peers(peers).enumerated().map { index, card in
            var peer = card
            if !input.isEmpty {
                let format = AudioFormat(sampleRate: peer.sampleRate, channelCount: coding.channels)
                peer.sound = try .file(SoundFiles.open(input[index % input.count]), as: format)
            }
            return peer
        }
        configuration.outputFolder = try output.map { try folder($0, besides: input) }
        return configuration
    }

    /// The paths of the files that the simulation writes for all participants to the folder of `--output`.
    private var outputFiles: [String] {
        guard let output else { return [] }
        return (1...peers).flatMap { number in ["mic", "heard"].map { "\(output)/peer-\(number)-\($0).wav" } }
    }

    /// Creates the output folder if it is missing. Throws if an existing file in it may not be replaced.
    private func folder(_ path: String, besides inputs: [String]) throws -> String {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw Failure(
                "Cannot create \(path): \(error.localizedDescription). Choose another --output.",
                status: Failure.cannotCreate)
        }
        for file in outputFiles {
            if inputs.contains(where: { SoundFileOutput.isSame($0, file) }) {
                throw Failure("\(file) is also an input. Choose another --output.", status: Failure.usage)
            }
            try existing.check(file)
        }
        return path
    }

    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(format: "%.0f", value) : String(format: "%g", value)
    }
}
