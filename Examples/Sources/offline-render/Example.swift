// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioFiles

/// Processes a file with an equalizer, a compressor, a reverb and a limiter, as fast as the machine can.
@main struct Example {
    static func main() throws {
        let files = CommandLine.arguments.dropFirst()
        guard files.count == 2, let path = files.first, let resultPath = files.last else {
            return print("usage: offline-render IN OUT.wav")
        }
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let source = try ConvertedFileReader(SoundFiles.open(path), as: format)
        let result = try AudioFileWriter(path: resultPath, format: format, sampleFormat: .int16)

        let engine = AudioEngine()
        let chain = [UnitType.equalizer, .compressor, .reverb, .limiter].map { AudioUnitEffect($0) }
        for (unit, preset) in zip(chain, ["voice", "voice", "medium-hall", "default"]) {
            try engine.attach(unit)
            try unit.loadPreset(preset)
        }
        let nodes: [AudioNode] = [engine.inputNode] + chain + [engine.outputNode]
        for (from, to) in zip(nodes, nodes.dropFirst()) { try engine.connect(from, to: to) }
        // The engine renders only on request, and the given input is the input node's output.
        try engine.enableManualRendering(format: format, inputChannelCount: 2)

        let input = AudioBuffer(channelCount: 2, frameCapacity: 4_096)
        let output = AudioBuffer(channelCount: 2, frameCapacity: 4_096)
        let delay = engine.paths.map(\.latency).max() ?? 0
        var left = source.frameCount + Int(2 * format.sampleRate)  // two seconds for the reverb to end in
        while left > 0 {
            let count = min(left, input.frameCapacity)
            let read = try source.read(into: input.channels, frameCount: count)
            for c in 0..<2 { clearSamples(input.channels[c] + read, count - read) }
            try engine.renderOffline(output.channels, frameCount: count, input: input.channels)
            try result.write(output.channels, frameCount: count)
            left -= count
        }
        try result.close()
        print("\(result.frameCount) frames, late by \((delay * 1e4).rounded() / 10) ms")
    }
}
