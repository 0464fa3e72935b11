// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioFiles
import EarshotTOMLReader
import Foundation

struct RenderCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "render", abstract: "Render an effect graph to a file, faster than real time.",
        discussion: """
            A graph file names nodes (players, mixers, effects, LV2 plug-ins), connections and parameter changes over time; docs/graph-files.md describes it. A player with input = 1 plays the first --input.
            """)

    static let examples = [
        CommandExample(
            "Render a recording through a graph",
            "earshot render --graph voice.toml --input take.wav --output finished.wav"),
        CommandExample("Draw a graph", "earshot render --graph voice.toml --dot | dot -Tsvg > graph.svg"),
    ]

    @Option(
        help: ArgumentHelp("Graph file in TOML.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var graph: String

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Audio files for the graph's players, in order.", valueName: "file"),
        completion: .file())
    var input: [String] = []

    @Option(
        name: .lettered("output"),
        help: ArgumentHelp(
            "Output file; its extension names the format. WAV is 32-bit float.", valueName: "file"),
        completion: .file(extensions: SoundFileOutput.endings))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Sample rate of the output in Hz. [default: the graph's, or the highest input's]", valueName: "hertz"))
    var rate: Double?

    @Option(help: ArgumentHelp("Frames per render block, 1 to 4096. Does not change the output.", valueName: "frames"))
    var block = 4096

    @Option(
        help: ArgumentHelp(
            "Time to render after the last input. [default: until the sound has decayed]", valueName: "time"),
        transform: TimeArgument.from0)
    var tail: Double?

    @Flag(name: .lettered("json"), help: "Print a JSON report.")
    var json = false

    @Flag(help: "Print the graph in Graphviz's dot format; render nothing.")
    var dot = false

    @OptionGroup var existing: OverwriteOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        if let rate, !AudioFormat.sampleRates.contains(rate) || rate != rate.rounded() {
            throw ValidationError("--rate must be a whole number from 8000 to 384000 (Hz)")
        }
        guard (1...4096).contains(block) else { throw ValidationError("--block must be 1 to 4096 (frames)") }
        if let tail, !(0...GraphFile.longest).contains(tail) {
            throw ValidationError("--tail must be 0 to 604800 (seconds)")
        }
        guard let output else {
            guard dot else { throw ValidationError("Name the output: --output FILE.wav, or use --dot.") }
            return
        }
        try SoundFileOutput.check(output, option: "--output")
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            let file = try GraphFile(Self.read(graph), path: graph)
            let built = try GraphBuilder(file, inputs: input, rate: rate, isDrawing: dot)
            try built.open(maximumFrameCount: block)
            if dot { return try Terminal.output(built.engine.graphviz + "\n") }
            try check(file, built)
            if let output { try existing.check(output) }
            try render(file, built)
        }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw Failure("\(path): no such file", status: Failure.noInput)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure("\(path) is not a regular file. Name a graph file.", status: Failure.noInput)
        }
        guard status.st_size <= TOMLValue.maximumByteCount else {
            throw Failure("\(path) is larger than 16 MiB. Name a graph file, which is text.", status: Failure.data)
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure("\(path): permission denied. Check its mode: ls -l", status: Failure.noInput)
        }
        return [UInt8](data)
    }

    /// Refuses a rendering that would be useless or endless, before anything is written.
    private func check(_ file: GraphFile, _ built: GraphBuilder) throws {
        guard let output else { return }
        for other in [graph] + built.sources.map(\.path) where SoundFileOutput.isSame(output, other) {
            throw Failure(
                "\(output) is also an input. Choose another --output.", status: Failure.usage)
        }
        if tail == nil, !built.sources.contains(where: { $0.end != nil }) {
            throw Failure(
                "\(graph): the graph has no end. Limit it: --tail 10s",
                status: Failure.usage)
        }
        if tail == 0, !built.sources.contains(where: { $0.end != nil }) {
            throw Failure("\(graph): --tail 0 leaves nothing to render. Use a longer one.", status: Failure.usage)
        }
    }

    private func render(_ file: GraphFile, _ built: GraphBuilder) throws {
        guard let output else { return }
        let shared = SharedFile(output)
        let target = try SoundFileOutput.create(output, format: built.format)
        defer { shared.share() }
        var rendering = OfflineRender(built, changes: file.changes, to: target, block: block, tail: tail)
        var progress = RenderProgress()
        let result: OfflineRender.Result
        do {
            result = try rendering.run { progress.show($0, of: $1) }
            try target.close()
        } catch {
            try? target.close()
            progress.clear()
            throw error
        }
        progress.clear()
        let report = RenderReport(
            result, built, file: file, output: output, rate: target.fileSampleRate)
        for warning in report.warnings + RenderReport.lateWarning(result, file: file) {
            Terminal.warn(warning)
        }
        try Terminal.output(json ? report.json() : report.text)
    }
}
