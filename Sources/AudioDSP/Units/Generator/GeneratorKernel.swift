// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Makes a tone, a sweep, noise or clicks, and ignores its input.
    public static let generator = UnitType(GeneratorKernel.self)
}

/// Makes a tone, a sweep, noise or clicks, and ignores its input.
///
/// Tones, sweeps and clicks are the same on each channel; noise differs. A waveform restarts when it is selected, unless it is
/// still fading out; the change is a crossfade of 10 ms. Frequencies are clamped to 0.49 of the sample rate.
struct GeneratorKernel: UnitKernel, ~Copyable {
    static var unit: UnitDescription {
        UnitDescription(
            component: AudioComponentDescription(type: .generator, subtype: "generator", manufacturer: "earshot"),
            name: "Generator", summary: "Makes a tone, a sweep, noise or clicks, whatever comes in.",
            parameters: [
                UnitParameter(
                    "waveform", "Waveform", .choice(["sine", "sweep", "white noise", "pink noise", "click"]), 0...4,
                    default: 0),
                UnitParameter("frequency", "Frequency", .hertz, 1...96_000, default: 440),
                UnitParameter("gain", "Gain", .decibels, -96...0, default: -20),
                UnitParameter("sweepStart", "Sweep start", .hertz, 1...96_000, default: 20),
                UnitParameter("sweepEnd", "Sweep end", .hertz, 1...96_000, default: 20_000),
                UnitParameter("sweepDuration", "Sweep duration", .seconds, 0.01...600, default: 10),
                UnitParameter("clickInterval", "Click interval", .seconds, 0.01...60, default: 1),
                UnitParameter("seed", "Seed of the noise", .generic, 0...16_777_215, default: 1),
            ],
            presets: [
                UnitPreset("tone", [:]),
                UnitPreset("reference", ["frequency": 1_000, "gain": -20]),
                UnitPreset("sweep", ["waveform": 1]),
                UnitPreset("white-noise", ["waveform": 2]),
                UnitPreset("pink-noise", ["waveform": 3]),
                UnitPreset("metronome", ["waveform": 4, "clickInterval": 0.5, "gain": -6]),
            ])
    }
    let latency = 0
    /// So many frames that the unit never counts as idle, even though its input is silent.
    let memory = 1 << 40

    private let sampleRate: Double
    private let fade: Int  // frames of the crossfade between waveforms
    private let levels: UnsafeMutablePointer<LinearRamp>  // the gain of each waveform, 0 to 1
    private var chosen = -1  // the selected waveform's index; −1 before the first `set`
    private var gain = LinearRamp(0)
    private var tone = Oscillator()
    private var sweep: SweepOscillator
    private var noise: NoiseSource
    private var clickInterval = 1.0  // frames
    private var untilClick = 0.0  // frames

    init(sampleRate: Double, channelCount: Int) {
        self.sampleRate = sampleRate
        fade = Int(sampleRate / 100)
        levels = .allocate(capacity: 5)
        levels.initialize(repeating: LinearRamp(0), count: 5)
        sweep = SweepOscillator(sampleRate: sampleRate)
        noise = NoiseSource(channelCount: channelCount)
    }

    deinit { levels.deallocate() }

    /// The parameters in the order of the unit's description.
    private enum Parameter: Int {
        case waveform, frequency, gain, sweepStart, sweepEnd, sweepDuration, clickInterval, seed
    }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        gain.move(
            to: values[Parameter.gain.rawValue] <= -96 ? 0 : decibelsToGain(values[Parameter.gain.rawValue]),
            over: frameCount)
        tone.move(to: part(values[Parameter.frequency.rawValue]), over: frameCount)
        sweep.set(
            start: part(values[Parameter.sweepStart.rawValue]), end: part(values[Parameter.sweepEnd.rawValue]),
            frameCount: Double(values[Parameter.sweepDuration.rawValue]) * sampleRate)
        clickInterval = Double(values[Parameter.clickInterval.rawValue]) * sampleRate
        if untilClick > clickInterval { untilClick = clickInterval }
        noise.seed(Int(values[Parameter.seed.rawValue]))
        choose(Int(values[Parameter.waveform.rawValue]), over: frameCount)
    }

    /// Returns a frequency as a part of the sample rate, clamped to 0.49.
    @_noLocks
    private func part(_ hertz: Float) -> Double {
        let part = Double(hertz) / sampleRate
        return part < 0.49 ? part : 0.49
    }

    @_noLocks
    private mutating func choose(_ waveform: Int, over frameCount: Int) {
        guard waveform != chosen else { return }
        let length = frameCount > 0 ? fade : 0
        if chosen >= 0 { levels[chosen].move(to: 0, over: length) }
        if !isAudible(waveform) { restart(waveform) }
        // A click during the crossfade would be distorted, so the first click comes an interval later.
        if waveform == 4, length > 0 { untilClick = clickInterval }
        levels[waveform].move(to: 1, over: length)
        chosen = waveform
    }

    @_noLocks
    private func isAudible(_ waveform: Int) -> Bool {
        levels[waveform].value != 0 || levels[waveform].remaining > 0
    }

    @_noLocks
    private mutating func restart(_ waveform: Int) {
        switch waveform {
        case 0: tone.restart()
        case 1: sweep.restart()
        case 2: noise.restartWhite()
        case 3: noise.restartPink()
        default: untilClick = 0
        }
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        let count = block.frameCount
        let output = block.output
        let first = output[0] + block.offset
        clearSamples(first, count)
        if isAudible(0) { for i in 0..<count { first[i] += tone.next() * levels[0].next() } }
        if isAudible(1) { for i in 0..<count { first[i] += sweep.next() * levels[1].next() } }
        if isAudible(4) { for i in 0..<count { first[i] += nextClick() * levels[4].next() } }
        for c in 1..<max(1, output.count) { copySamples(output[c] + block.offset, first, count) }
        for waveform in 2...3 where isAudible(waveform) {
            let start = levels[waveform]
            for c in 0..<output.count {
                let to = output[c] + block.offset
                levels[waveform] = start
                for i in 0..<count {
                    to[i] += (waveform == 2 ? noise.white(c) : noise.pink(c)) * levels[waveform].next()
                }
            }
        }
        let start = gain
        for c in 0..<output.count {
            let to = output[c] + block.offset
            gain = start
            for i in 0..<count { to[i] *= gain.next() }
        }
    }

    @_noLocks
    private mutating func nextClick() -> Float {
        let isDue = untilClick <= 0
        if isDue { untilClick += clickInterval }
        untilClick -= 1
        return isDue ? 1 : 0
    }

    @_noLocks
    mutating func reset() {
        gain.finish()
        tone.finish()
        for waveform in 0..<5 {
            levels[waveform].finish()
            restart(waveform)
        }
    }

    static var functions: UnitFunctions {
        UnitFunctions(
            set: { $0.assumingMemoryBound(to: Self.self).pointee.set($1, over: $2) },
            process: { state, block in
                state.assumingMemoryBound(to: Self.self).pointee.process(
                    block.assumingMemoryBound(to: UnitBlock.self).pointee)
            },
            reset: { $0.assumingMemoryBound(to: Self.self).pointee.reset() })
    }
}
