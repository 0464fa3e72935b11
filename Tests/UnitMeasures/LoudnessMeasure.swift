// SPDX-License-Identifier: Apache-2.0

import CEarshotEBUR128
import EarshotAudioBase
import EarshotAudioDSP
import Glibc

/// Measures the loudness meter against libebur128 and the test signals of EBU Tech 3341.
public func loudnessFigures() -> [Figure] {
    var figures = [Figure]()
    for (name, rate, sound) in loudnessMaterial() {
        let ours = measured(sound, rate)
        let theirs = reference(sound, rate)
        let what = "\(name), \(sound.count) channels, \(Int(rate)) Hz"
        func compare(_ label: String, _ a: Double, _ b: Double, _ unit: String, _ limit: Double) {
            figures.append(
                Figure(
                    "\(label): \(what)", abs(a - b), unit, .atMost(limit), against: "libebur128 1.2.6, \(rounded(b))"))
        }
        compare("integrated loudness", ours.integrated, theirs.integrated, "LU", 0.1)
        compare("momentary loudness", ours.momentary, theirs.momentary, "LU", 0.1)
        compare("short-term loudness", ours.shortTerm, theirs.shortTerm, "LU", 0.1)
        if sound[0].count > 30 * Int(rate) { compare("loudness range", ours.range, theirs.range, "LU", 0.5) }
        compare("sample peak", ours.peak, theirs.peak, "dB", 0.001)
    }
    figures += exampleFigures()
    return figures + truePeakFigures()
}

private func rounded(_ x: Double) -> Double { (x * 100).rounded() / 100 }

private func measured(_ sound: [[Float]], _ rate: Double) -> LoudnessMeter.Measurement {
    let meter = LoudnessMeter(sampleRate: rate, channelCount: sound.count, measuresTruePeak: false)
    feed(meter, sound)
    return meter.measurement
}

private func feed(_ meter: LoudnessMeter, _ sound: [[Float]]) {
    let buffer = AudioBuffer(channelCount: sound.count, frameCapacity: 4_096)
    var at = 0
    while at < sound[0].count {
        let count = min(4_096, sound[0].count - at)
        for c in 0..<sound.count { for i in 0..<count { buffer.channels[c][i] = sound[c][at + i] } }
        withExtendedLifetime(buffer) { meter.add(buffer.channels, frameCount: count) }
        at += count
    }
}

private struct Reference {
    var integrated = 0.0
    var momentary = 0.0
    var shortTerm = 0.0
    var range = 0.0
    var peak = 0.0
}

private func reference(_ sound: [[Float]], _ rate: Double) -> Reference {
    let modes = [EBUR128_MODE_I, EBUR128_MODE_S, EBUR128_MODE_LRA, EBUR128_MODE_SAMPLE_PEAK]
    var state = ebur128_init(UInt32(sound.count), UInt(rate), Int32(modes.reduce(0) { $0 | $1.rawValue }))
    precondition(state != nil)
    defer { ebur128_destroy(&state) }
    let frames = sound[0].count
    let interleaved = (0..<frames).flatMap { i in sound.map { $0[i] } }
    precondition(ebur128_add_frames_float(state, interleaved, frames) == 0)
    var result = Reference()
    ebur128_loudness_global(state, &result.integrated)
    ebur128_loudness_momentary(state, &result.momentary)
    ebur128_loudness_shortterm(state, &result.shortTerm)
    ebur128_loudness_range(state, &result.range)
    var top = 0.0
    for c in 0..<sound.count {
        var peak = 0.0
        ebur128_sample_peak(state, UInt32(c), &peak)
        top = max(top, peak)
    }
    result.peak = 20 * log10(top)
    return result
}

private func loudnessMaterial() -> [(String, Double, [[Float]])] {
    var material = [(String, Double, [[Float]])]()
    let spoken = Array(MeasureSound.speech.dropLast(MeasureSound.speech.count % 4_800))
    for rate in [16_000.0, 32_000, 44_100, 48_000, 96_000, 192_000] {
        var noise = MeasureSound.Noise(3)
        let count = Int(4 * rate)
        material.append(("noise", rate, [(0..<count).map { _ in Float(0.1 * noise.normal()) }]))
        material.append(("music", rate, music(rate, seconds: 4)))
    }
    material.append(("speech", 48_000, [spoken]))
    material.append(("speech and pauses", 44_100, paused(spoken, 44_100)))
    material.append(("music that swells", 32_000, [swelling(music(32_000, seconds: 40)[0], 32_000)]))
    let parts = music(48_000, seconds: 5)
    let half = parts[0].map { $0 / 2 }
    material.append(("music", 48_000, [parts[0], parts[1], half, parts[1], half]))
    material.append(("music", 48_000, [parts[0], parts[1], half, parts[0], parts[1], half]))
    return material
}

/// Plucked notes with overtones, different on the left and the right, alternately soft and loud.
private func music(_ rate: Double, seconds: Int) -> [[Float]] {
    var sides = [[Float]](repeating: [Float](repeating: 0, count: seconds * Int(rate)), count: 2)
    for (n, pitch) in stride(from: 0.0, to: Double(seconds), by: 0.25).map({ 110 * pow(2, (7 * $0).rounded() / 12) })
        .enumerated()
    {
        let start = Int(Double(n) * 0.25 * rate)
        let level = 0.02 + 0.2 * Double(n % 7) / 7
        for i in start..<min(sides[0].count, start + Int(rate / 2)) {
            let t = Double(i - start) / rate
            var sum = 0.0
            for k in 1...6 { sum += sin(2 * .pi * pitch * Double(k) * t) * exp(-t * 4 * Double(k)) / Double(k) }
            sides[0][i] += Float(level * sum)
            sides[1][i] += Float(level * sum * (n % 2 == 0 ? 0.4 : 1.1))
        }
    }
    return sides
}

/// Speech with quiet noise in the middle, which the gates exclude.
private func paused(_ speech: [Float], _ rate: Double) -> [[Float]] {
    var noise = MeasureSound.Noise(11)
    var sound = [Float]()
    for start in stride(from: 0, to: speech.count, by: Int(rate)) {
        sound += speech[start..<min(speech.count, start + Int(rate))]
        sound += (0..<Int(1.5 * rate)).map { _ in Float(0.001 * noise.normal()) }
    }
    return [sound, sound.map { $0 * 0.7 }]
}

/// Level changes of 8 dB, four times.
private func swelling(_ sound: [Float], _ rate: Double) -> [Float] {
    sound.enumerated().map { i, x in x * Float(pow(10, 0.4 * sin(2 * .pi * Double(i) / rate / 10))) }
}

/// Measures test cases 1, 2, 3 and 6 of EBU Tech 3341 with shortened tones (stereo sines at 1 kHz, and in five channels), then 1
/// to 4 of EBU Tech 3342 (steps of level).
private func exampleFigures() -> [Figure] {
    func tones(_ parts: [(level: Double, seconds: Double)]) -> [Float] {
        parts.flatMap { part in
            UnitDrive.sine(1_000, rate: 48_000, count: Int(48_000 * part.seconds), amplitude: pow(10, part.level / 20))
        }
    }
    func figure(_ name: String, _ sound: [[Float]], _ expected: Double) -> Figure {
        Figure(
            "integrated loudness, EBU Tech 3341 \(name)", measured(sound, 48_000).integrated, "LUFS",
            .within((expected - 0.1)...(expected + 0.1)), against: "\(expected) ± 0.1")
    }
    func range(_ name: String, _ levels: [Double], _ expected: Double) -> Figure {
        let tone = UnitDrive.sine(1_000, rate: 16_000, count: 320_000)
        let sound = levels.flatMap { level in tone.map { $0 * Float(pow(10, level / 20)) } }
        return Figure(
            "loudness range, EBU Tech 3342 \(name)", measured([sound, sound], 16_000).range, "LU",
            .within((expected - 1)...(expected + 1)), against: "\(expected) ± 1")
    }
    let first = tones([(-23, 5)])
    let second = tones([(-33, 5)])
    let third = tones([(-36, 5), (-23, 20), (-36, 5)])
    let outer = tones([(-28, 5)])
    let centre = tones([(-24, 5)])
    let rear = tones([(-30, 5)])
    return [
        figure("case 1", [first, first], -23), figure("case 2", [second, second], -33),
        figure("case 3", [third, third], -23), figure("case 6", [outer, outer, centre, rear, rear], -23),
        range("case 1", [-20, -30], 10), range("case 2", [-20, -15], 5), range("case 3", [-40, -20], 20),
        range("case 4", [-50, -35, -20, -35, -50], 15),
    ]
}

private func truePeakFigures() -> [Figure] {
    var noise = MeasureSound.Noise(5)
    let rate = 48_000.0
    let sounds: [(String, [Float])] = [
        ("fs/4 at 45°", (0..<9_600).map { Float(0.5 * sin(.pi / 2 * Double($0) + .pi / 4)) }),
        ("noise", (0..<9_600).map { _ in Float(0.2 * noise.normal()) }),
        ("speech", Array(MeasureSound.speech[24_000..<43_200])),
    ]
    return sounds.map { name, sound in
        let meter = LoudnessMeter(sampleRate: rate, channelCount: 1)
        feed(meter, [sound + [Float](repeating: 0, count: 4_800)])
        return Figure(
            "true peak, \(name)", meter.measurement.truePeak - 20 * log10(TruePeakReference.peak(sound)), "dB",
            .within(-0.2...0.1), against: "16-fold interpolation")
    }
}
