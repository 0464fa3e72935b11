// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioDevices
import EarshotAudioEngine
import EarshotAudioFiles
import Foundation

/// The output of an example's graph: a sound card or a file.
///
/// Not a part of Earshot, but what the examples share: their options, and the few lines that run an engine.
public struct Stage: Sendable {
    /// The remaining arguments: files.
    public private(set) var files: [String] = []
    /// The sample rate and channels of the output.
    public let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
    private var offline: String?
    private var microphone: String?
    private var backend: AudioBackend?
    private var seconds: Double?
    private var printsGraph = false

    static let help = """
        --offline OUT.wav     render into a file, faster than real time
        --microphone IN.wav   what the microphone hears, with --offline or --device simulated
        --device SYSTEM       pipewire, jack, alsa or simulated; whatever runs here unless said otherwise
        --seconds S           how long
        --graph               print the graph for Graphviz, and end
        """

    /// Parses the command line; `usage` describes the example's own arguments.
    public init(usage: String) {
        var arguments = Array(CommandLine.arguments.dropFirst())
        func end(_ words: String, status: Int32) -> Never {
            print(words)
            exit(status)
        }
        while !arguments.isEmpty {
            let argument = arguments.removeFirst()
            func value() -> String {
                if arguments.isEmpty { end("\(argument) needs a value; see --help", status: 64) }
                return arguments.removeFirst()
            }
            switch argument {
            case "-h", "--help": end("usage: \(usage) [options]\n\n\(Self.help)", status: 0)
            case "--offline": offline = value()
            case "--microphone": microphone = value()
            case "--graph": printsGraph = true
            case "--seconds":
                seconds = Double(value())
                if seconds.map({ $0 > 0 && $0 < 86_400 }) != true { end("--seconds takes a number", status: 64) }
            case "--device":
                backend = AudioBackend(rawValue: value())
                if backend == nil { end("--device takes pipewire, jack, alsa or simulated", status: 64) }
            case _ where argument.hasPrefix("-"): end("there is no option \(argument); see --help", status: 64)
            default: files.append(argument)
            }
        }
    }

    /// Runs a graph: on the device for a time, or into a file.
    /// - Parameter seconds: the duration if the command line gives none.
    public func run(_ engine: AudioEngine, seconds otherwise: Double) throws {
        let seconds = seconds ?? otherwise
        if let offline, !printsGraph { return try render(engine, seconds, to: offline) }
        if printsGraph {
            try engine.enableManualRendering(format: format, inputChannelCount: 1)
            print(engine.graphviz)
            return
        }
        if backend == .simulated { return try simulate(engine, seconds) }
        var request = AudioDeviceRequest()
        request.clientName = "earshot-example"
        request.sampleRate = format.sampleRate
        try perform(engine, on: AudioSystems.make(backend).open(request), seconds)
    }

    private func perform(_ engine: AudioEngine, on device: any AudioDevice, _ seconds: Double) throws {
        try engine.start(on: device)
        describe(engine)
        Thread.sleep(forTimeInterval: seconds)
        engine.stop()
        print("\(device.name): \(device.monitor.xrunCount) xruns")
    }

    private func describe(_ engine: AudioEngine) {
        print(engine)
        for path in engine.paths {
            print("\(path.nodes.joined(separator: " → ")): \((path.latency * 1e5).rounded() / 100) ms")
        }
    }

    private func render(_ engine: AudioEngine, _ seconds: Double, to path: String) throws {
        try engine.enableManualRendering(format: format, inputChannelCount: 1)
        describe(engine)
        let writer = try AudioFileWriter(path: path, format: format, sampleFormat: .int16)
        let mono = AudioFormat(sampleRate: format.sampleRate, channelCount: 1)
        let voice = try microphone.map { path throws(AudioFileError) in
            try ConvertedFileReader(SoundFiles.open(path), as: mono)
        }
        let input = AudioBuffer(channelCount: 1, frameCapacity: 512)
        let output = AudioBuffer(channelCount: 2, frameCapacity: 512)
        var left = Int(seconds * format.sampleRate)
        while left > 0 {
            let count = min(left, 512)
            let heard = try voice?.read(into: input.channels, frameCount: count) ?? 0
            clearSamples(input.channels[0] + heard, count - heard)
            try engine.renderOffline(output.channels, frameCount: count, input: input.channels)
            try writer.write(output.channels, frameCount: count)
            left -= count
        }
        engine.flushTaps()
        engine.stop()
        try writer.close()
    }

    /// Simulates a card without hardware: it keeps real time and captures a file.
    private func simulate(_ engine: AudioEngine, _ seconds: Double) throws {
        let air = AudioRing(channelCount: 1, capacity: 48_000)
        let feeder = try microphone.map { path throws(AudioFileError) in
            FileFeeder(try SoundFiles.open(path), into: air, sampleRate: format.sampleRate)
        }
        feeder?.prime()
        try feeder?.start()
        let card = SimulatedCard.Configuration(
            sampleRate: format.sampleRate, blockFrameCount: 256, outputChannelCount: 2, source: air)
        try perform(engine, on: SimulatedDevice(card), seconds)
        feeder?.stop()
    }
}
