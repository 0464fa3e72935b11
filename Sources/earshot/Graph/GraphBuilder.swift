// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioFiles
import EarshotTOMLReader
import Foundation

/// An engine made from a graph file, with its sound files opened.
struct GraphBuilder {
    /// A player and the properties of its sound.
    struct Source {
        var node: String
        var path: String
        /// The format of the sound file.
        var format: AudioFormat
        /// The length of the sound file in seconds.
        var seconds: Double
        /// The seconds of the rendering at which the sound begins (``start``) and ends (``end``, nil if the sound loops).
        var start: Double
        var end: Double?
        var player: AudioPlayerNode
    }

    let engine = AudioEngine()
    /// The format of the output.
    let format: AudioFormat
    private(set) var sources: [Source] = []
    private(set) var units: [AudioUnitEffect] = []
    /// True if a player of the graph loops, or if the graph has a generator: then the graph never becomes silent.
    let isEndless: Bool
    private var nodes: [String: AudioNode] = [:]
    private let file: GraphFile

    /// - Parameters:
    ///   - inputs: the sound files for players that name an input.
    ///   - rate: the output's sample rate in hertz; nil for the graph file's or, if it has none, the highest of the players.
    ///   - isDrawing: true if nothing is rendered, so that inputs may be missing.
    init(_ file: GraphFile, inputs: [String], rate: Double?, isDrawing: Bool = false) throws {
        self.file = file
        let files = try Self.open(file, inputs, isDrawing: isDrawing)
        let highestRate = files.values.map { $0.player.rate ?? $0.format.sampleRate }.max()
        format = AudioFormat(sampleRate: rate ?? file.rate ?? highestRate ?? 48_000, channelCount: file.channels)
        isEndless = file.nodes.contains { $0.kind.isEndless }
        for node in file.nodes { nodes[node.name] = try make(node, files[node.name]) }
        for connection in file.connections { try connect(connection) }
        for node in file.nodes { try set(node) }
    }

    private struct Opened {
        var player: GraphFile.Player
        /// The path; nil for a missing input of a graph that is only drawn.
        var path: String?
        var format: AudioFormat
        var frameCount: Int
    }

    /// Opens every sound file, so that errors are reported before anything is written.
    private static func open(
        _ file: GraphFile, _ inputs: [String], isDrawing: Bool
    ) throws -> [String: Opened] {
        var usedInputs: Set<Int> = []
        var files: [String: Opened] = [:]
        for node in file.nodes {
            guard case .player(let player) = node.kind else { continue }
            let path: String
            switch player.source {
            case .file(let name):
                let folder = file.path.lastIndex(of: "/").map { String(file.path[...$0]) } ?? ""
                path = name.hasPrefix("/") ? name : folder + name
            case .input(let number):
                if isDrawing, number > inputs.count {
                    let format = AudioFormat(sampleRate: file.rate ?? 48_000, channelCount: file.channels)
                    files[node.name] = Opened(player: player, path: nil, format: format, frameCount: 0)
                    continue
                }
                guard number <= inputs.count else {
                    throw GraphFileError(
                        file: file.path, place: player.place,
                        problem: inputs.isEmpty
                            ? "'\(node.name)' plays input \(number), but no input is named; add --input FILE"
                            : "'\(node.name)' plays input \(number), but there \(inputs.count == 1 ? "is" : "are") only \(inputs.count); add --input FILE"
                    )
                }
                usedInputs.insert(number)
                path = inputs[number - 1]
            }
            let reader = try SoundFiles.open(path)
            files[node.name] = Opened(
                player: player, path: path, format: reader.processingFormat, frameCount: reader.frameCount)
        }
        if let unusedInput = (1...max(1, inputs.count)).first(where: { !usedInputs.contains($0) }), !inputs.isEmpty {
            throw Failure(
                "no player in \(file.path) has input = \(unusedInput), so \(inputs[unusedInput - 1]) would not be heard; add one, or remove that --input",
                status: Failure.usage)
        }
        return files
    }

    private mutating func make(_ node: GraphFile.Node, _ opened: Opened?) throws -> AudioNode {
        let newNode: AudioNode
        switch node.kind {
        case .mainMixer(let volume):
            engine.mainMixerNode.outputVolume = volume
            return engine.mainMixerNode
        case .output: return engine.outputNode
        case .mixer(let channels, let volume):
            let mixer = AudioMixerNode(channelCount: channels, name: node.name)
            mixer.outputVolume = volume
            newNode = mixer
        case .environment(let listener):
            let environment = AudioEnvironmentNode(name: node.name)
            environment.listener = listener
            newNode = environment
        case .converter(let rate, let channels):
            newNode = AudioConverterNode(
                to: AudioFormat(
                    sampleRate: rate ?? format.sampleRate, channelCount: channels ?? format.channelCount),
                name: node.name)
        case .unit(let unit, _, _, _):
            let effect = Self.effect(unit, node.name)
            units.append(effect)
            newNode = effect
        case .player(let player):
            guard let opened else { preconditionFailure("the file of every player was opened") }
            newNode = try self.player(node, player, opened)
        }
        try placed(node.place) { try engine.attach(newNode) }
        return newNode
    }

    private static func effect(_ unit: GraphFile.Unit, _ name: String) -> AudioUnitEffect {
        switch unit {
        case .own(let type): AudioUnitEffect(type, name: name)
        case .plugIn(let plugIn): AudioUnitEffect(plugIn, name: name)
        }
    }

    private mutating func player(
        _ node: GraphFile.Node, _ player: GraphFile.Player, _ opened: Opened
    ) throws -> AudioPlayerNode {
        let playerFormat = AudioFormat(
            sampleRate: player.rate ?? opened.format.sampleRate,
            channelCount: player.channels ?? opened.format.channelCount)
        let newNode = AudioPlayerNode(format: playerFormat, name: node.name)
        guard let path = opened.path else { return newNode }
        let fileSeconds = Double(opened.frameCount) / opened.format.sampleRate
        let playedSeconds = min(player.duration ?? .infinity, max(0, fileSeconds - player.skip))
        guard playedSeconds > 0 else {
            throw GraphFileError(
                file: file.path, place: player.place,
                problem: opened.frameCount == 0
                    ? "\(path) contains no audio; use another file"
                    : "skip = \(GraphFields.text(player.skip)) skips all of \(path), which is \(String(format: "%.2f", fileSeconds)) s long"
            )
        }
        try newNode.scheduleFile(
            SoundFiles.open(path), startingFrame: Int((player.skip * playerFormat.sampleRate).rounded()),
            frameCount: player.duration.map { max(1, Int(($0 * playerFormat.sampleRate).rounded())) },
            at: player.start > 0 ? Int64((player.start * format.sampleRate).rounded()) : nil,
            options: player.loops ? .loops : [])
        sources.append(
            Source(
                node: node.name, path: path, format: opened.format, seconds: fileSeconds, start: player.start,
                end: player.loops ? nil : player.start + playedSeconds, player: newNode))
        return newNode
    }

    private func connect(_ connection: GraphFile.Connection) throws {
        guard let from = nodes[connection.from], let to = nodes[connection.to] else { return }
        try placed(connection.place) { try engine.connect(from, to: to, bus: connection.bus) }
        if let mixer = to as? AudioMixerNode {
            let input = mixer.input(connection.bus)
            if let volume = connection.volume { input.volume = volume }
            if let pan = connection.pan { input.pan = pan }
            if connection.mute { input.isMuted = true }
            if connection.solo { input.isSoloed = true }
        }
        if let environment = to as? AudioEnvironmentNode {
            let input = environment.input(connection.bus)
            for (identifier, value) in connection.values { input[identifier]?.value = value }
            if let position = connection.position { input.position = position }
        }
    }

    /// Loads a unit's preset, then sets the parameters and the bypass that the graph file gives.
    private func set(_ node: GraphFile.Node) throws {
        guard case .unit(_, let preset, let values, let bypass) = node.kind,
            let effect = nodes[node.name] as? AudioUnitEffect
        else { return }
        try placed(node.place) {
            if let preset { try effect.loadPreset(preset) }
            for (identifier, value) in values { try effect.parameter(identifier).value = value }
            effect.bypass = bypass
        }
    }

    /// Compiles the graph and starts the players.
    func open(maximumFrameCount: Int) throws {
        try placed(.start) { try engine.enableManualRendering(format: format, maximumFrameCount: maximumFrameCount) }
        for source in sources { source.player.play() }
    }

    /// Returns the engine's parameters that a change of the graph file sets: one for each bus that the change names.
    func parameters(of change: GraphFile.Change) -> [AudioParameter] {
        switch nodes[change.node] {
        case let effect as AudioUnitEffect: return effect[change.parameter].map { [$0] } ?? []
        case let mixer as AudioMixerNode:
            if change.buses.isEmpty { return mixer.parameters }
            return change.buses.map { mixer.input($0).parameters[change.parameter == "pan" ? 1 : 0] }
        case let environment as AudioEnvironmentNode:
            return change.buses.compactMap { environment.input($0)[change.parameter] }
        default: return []
        }
    }

    /// Does the work. Adds the place in the graph file to an error that the engine throws.
    func placed(_ place: SourcePlace, _ work: () throws -> Void) throws {
        do { try work() } catch let error as AudioEngineError {
            throw GraphFileError(file: file.path, place: place, problem: ErrorText.text(error))
        }
    }
}
