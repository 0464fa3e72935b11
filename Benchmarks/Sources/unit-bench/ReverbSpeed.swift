// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP
import Foundation
import UnitMeasures

/// A minute of stereo noise through the reverb, and through that of sox in the same run: eight combs and four all-passes per
/// channel. The minimum of five runs each; sox's minus the time to read the file.
func reverbSpeedFigures() -> [Figure] {
    let ours = reverbNanoseconds()
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("earshot-\(getpid())-noise.wav").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    guard sox(["-n", "-r", "48000", "-c", "2", file, "synth", "60", "whitenoise", "gain", "-6"]) != nil,
        let reading = (0..<5).compactMap({ _ in sox([file, "-n"]) }).min(),
        let whole = (0..<5).compactMap({ _ in sox([file, "-n", "reverb"]) }).min()
    else {
        print("sox is not there to compare with")
        return []
    }
    let theirs = (whole - reading) / (60 * 48_000) * 1e9
    return [
        Figure(
            "a stereo frame of reverb, \(Int(ours)) ns, as a part of sox's \(Int(theirs))", ours / theirs, "",
            .atMost(1),
            against: "sox FILE -n reverb")
    ]
}

private func reverbNanoseconds() -> Double {
    let unit = UnitType.reverb.makeUnit(sampleRate: 48_000, channelCount: 2)
    let noise = AudioBuffer(channelCount: 2, frameCapacity: 512)
    let output = AudioBuffer(channelCount: 2, frameCapacity: 512)
    var source = SmallNoise()
    for c in 0..<2 { for i in 0..<512 { noise.channels[c][i] = source.next() } }
    let old = earshot_flush_denormals()
    defer { earshot_restore_denormals(old) }
    return (0..<5).map { _ in
        let start = earshot_monotonic_ns()
        for _ in 0..<(60 * 48_000 / 512) { unit.process(noise.channels, output.channels, frameCount: 512) }
        return Double(earshot_monotonic_ns() - start) / Double(60 * 48_000)
    }.min()!
}

/// Returns the seconds that a command of sox took; nil if it failed.
private func sox(_ arguments: [String]) -> Double? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sox"] + arguments
    let start = earshot_monotonic_ns()
    guard (try? process.run()) != nil else { return nil }
    process.waitUntilExit()
    return process.terminationStatus == 0 ? Double(earshot_monotonic_ns() - start) / 1e9 : nil
}
