// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotSimulation
import Foundation
import Testing

@testable import EarshotCall

/// Renders speech through complete calls on virtual time, for Tests/Quality to score: set EARSHOT_RENDER_FOLDER to a folder with
/// `speech-44100.f32` and `speech-48000.f32` (raw 32-bit floats, mono), as scripts/scenarios does.
@Suite struct QualityRenderTests {
    struct Form: CustomTestStringConvertible, Sendable {
        var name: String
        var codec: Codec
        var frame: Double?
        var rate: Double
        var testDescription: String { name }
    }

    static let folder = ProcessInfo.processInfo.environment["EARSHOT_RENDER_FOLDER"]
    static let forms = [
        Form(name: "aac", codec: .aac, rate: 44_100),
        Form(name: "opus-20", codec: .opus, frame: 20, rate: 48_000),
        Form(name: "opus-2.5", codec: .opus, frame: 2.5, rate: 48_000),
        Form(name: "pcm", codec: .pcm, rate: 48_000),
    ]

    @Test(.enabled(if: folder != nil, "EARSHOT_RENDER_FOLDER is not set"), arguments: forms)
    func `speech is rendered through a whole call`(form: Form) throws {
        let folder = URL(fileURLWithPath: try #require(Self.folder))
        let data = try Data(contentsOf: folder.appendingPathComponent("speech-\(Int(form.rate)).f32"))
        let speech = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let seconds = Double(speech.count) / form.rate
        try #require(seconds > 10)
        var rig = try CallSimulation(
            CallSetup(
                codec: form.codec, opusFrameMilliseconds: form.frame, rates: (form.rate, form.rate),
                says: { frame, _ in frame < speech.count ? speech[frame] : 0 }))
        try rig.run(until: seconds + 0.5)
        let ear = rig.peers[1]
        #expect(ear.playout.statistics.missingPackets == 0)
        let delay = try rig.mouthToEar(from: 0, 2..<(seconds - 1))
        let lag = ear.heard(0..<1).from.seconds(since: rig.peers[0].spoken(0..<1).from)
        let heard = folder.appendingPathComponent("heard-\(form.name).f32")
        try ear.heard[0].withUnsafeBytes { Data($0) }.write(to: heard)
        // The position of the first sent frame in the received sound, and the delay of the sound.
        let line = "\((delay.milliseconds * 1e-3 - lag) * form.rate) \(delay.milliseconds)\n"
        try Data(line.utf8).write(to: folder.appendingPathComponent("heard-\(form.name).txt"))
    }
}
