// SPDX-License-Identifier: Apache-2.0

import BenchScenes

@testable import EarshotAudioBase
@testable import EarshotAudioDSP

/// Kernels of the render path, at the lengths that scripts/bench units times.
enum Kernels {
    static func count() {
        ring()
        mixing()
        meters()
        for channels in [1, 2] { for type in [SampleType.int16, .int24, .int32] { conversion(type, channels) } }
        for sections in [5, 8] { equalizer(sections) }
        let voice = Sounds.voice(sampleRate: 48_000, seconds: 1)
        unit("reverb, 2 channels, 512 frames", .reverb, [:], noise(channels: 2, frames: 51_200), frames: 512)
        for preset in UnitType.voiceChanger.description.presets {
            unit("voice changer, \(preset.name), 64 frames", .voiceChanger, preset.values, voice, frames: 64)
        }
        predictor(voice)
    }

    /// A buffer of noise between −0.9 and 0.9, always the same.
    static func noise(channels: Int, frames: Int) -> AudioBuffer {
        let buffer = AudioBuffer(channelCount: channels, frameCapacity: frames)
        var random = SeededRandom(seed: 1)
        for c in 0..<channels { for i in 0..<frames { buffer.channels[c][i] = Float(1.8 * random.unit() - 0.9) } }
        return buffer
    }

    private static func ring() {
        let frames = opaque(128)
        let ring = AudioRing(channelCount: 1, capacity: 4_096)
        let (from, to) = (noise(channels: 1, frames: frames), AudioBuffer(channelCount: 1, frameCapacity: frames))
        let (writer, reader, source, sink) = (ring.writer, ring.reader, from.channels, to.channels)
        counted("ring, written and read, 128 frames") {
            writer.write(source, frameCount: frames)
            _ = reader.read(sink, frameCount: frames)
        }
        require(to.channels[0][opaque(5)] == from.channels[0][5], "the ring gave something else")
    }

    private static func mixing() {
        let (inputs, frames) = (opaque(32), opaque(128))
        let (gain, step) = (opaque(Float(0.25)), opaque(Float(0.001)))
        let (from, to) = (noise(channels: inputs, frames: frames), AudioBuffer(channelCount: 1, frameCapacity: frames))
        let gains = UnsafeMutablePointer<Float>.allocate(capacity: inputs)
        defer { gains.deallocate() }
        for k in 0..<inputs { gains[k] = 0.01 * Float(k + 1) }
        let (sources, ours) = (from.channels.pointers, to.channels[0])
        counted("mixing of 32 inputs, 128 frames") {
            clearSamples(ours, frames)
            mixSamples(ours, sources, gains, inputCount: inputs, frames)
        }
        counted("adding one input, 128 frames") { addSamples(ours, sources[0], frames, gain: gains[0]) }
        counted("gain ramp, 128 frames") { scaleSamples(ours, sources[0], frames, gain: gain, step: step) }
        counted("gain ramp while mixing, 128 frames") { addSamples(ours, sources[0], frames, gain: gain, step: step) }
        counted("gain, 128 frames") { scaleSamples(ours, sources[0], frames, gain: gain) }
    }

    private static func meters() {
        let frames = opaque(128)
        let from = noise(channels: 32, frames: frames)
        let inputs = from.channels.pointers
        var (sum, turn): (Float, Int) = (0, 0)
        // The input differs each time; otherwise the optimiser would compute it once.
        counted("peak, 128 frames") {
            sum += peakOfSamples(inputs[turn & 31], frames)
            turn += 1
        }
        counted("sum of squares, 128 frames") {
            sum += energyOfSamples(inputs[turn & 31], frames)
            turn += 1
        }
        require(sum > 0, "the meters show nothing")
    }

    private static func conversion(_ type: SampleType, _ channels: Int) {
        let (frames, channels) = (opaque(256), opaque(channels))
        let from = noise(channels: channels, frames: frames)
        let to = AudioBuffer(channelCount: channels, frameCapacity: frames)
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: type.byteCount * channels * frames, alignment: 64)
        defer { bytes.deallocate() }
        let name = "\(type), \(channels) channel\(channels == 1 ? "" : "s"), 256 frames"
        counted("float to \(name)") {
            type.write(from.channels, frameCount: frames, into: bytes, channelCount: channels)
        }
        counted("\(name) to float") {
            type.read(bytes, channelCount: channels, frameCount: frames, into: to.channels)
        }
    }

    private static func equalizer(_ sections: Int) {
        let description = UnitType.equalizer.description
        var values = description.presets.first { $0.name == "flat" }?.values ?? [:]
        for n in 1...sections {
            values["band\(n).type"] = 0
            values["band\(n).frequency"] = 100 * Float(1 << n) / 2
            values["band\(n).gain"] = 3
            values["band\(n).q"] = 2
        }
        unit(
            "equalizer of \(sections) bands, 2 channels, 64 frames", .equalizer, values,
            noise(channels: 2, frames: 6_400), frames: 64)
    }

    private static func unit(
        _ name: String, _ type: UnitType, _ values: [String: Float], _ from: AudioBuffer, frames: Int
    ) {
        let channels = from.channels.count
        let unit = type.makeUnit(sampleRate: 48_000, channelCount: channels)
        unit.set(unit.description.values(of: UnitPreset("counted", values)))
        let frames = opaque(frames)
        let to = AudioBuffer(channelCount: channels, frameCapacity: 100 * frames)
        func run() {
            for block in 0..<100 {
                unit.process(from.channels, to.channels, offset: block * frames, frameCount: frames)
            }
        }
        run()
        counted(name, 100, run)
    }

    private static func predictor(_ voice: AudioBuffer) {
        var predictor = LinearPredictor()
        var sum: Float = 0
        counted("concealment: an analysis, 256 coefficients of 704 frames", 10) {
            for round in 0..<10 { predictor.analyze(voice.channels[0] + 24_000 + round * 100) }
        }
        counted("concealment: 128 frames") { for _ in 0..<128 { sum += predictor.next() } }
        require(sum.isFinite, "the prediction runs away")
    }
}
