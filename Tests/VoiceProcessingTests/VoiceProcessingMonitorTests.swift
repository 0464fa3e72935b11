// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotVoiceProcessing

/// Returns a monitor's verdict on sound in frames of 10 ms at 16 kHz.
private func verdict(
    _ microphone: [Float], _ cleaned: [Float], reference: [Float] = [],
    options: VoiceProcessingOptions = VoiceProcessingOptions()
) -> VoiceProcessingFinding? {
    var monitor = VoiceProcessingMonitor(options: options)
    let far = reference + [Float](repeating: 0, count: max(0, microphone.count - reference.count))
    for start in stride(from: 0, through: min(microphone.count, cleaned.count) - 160, by: 160) {
        let finding = microphone.withUnsafeBufferPointer { m in
            far.withUnsafeBufferPointer { r in
                cleaned.withUnsafeBufferPointer { c in
                    monitor.observe(
                        microphone: m.baseAddress! + start, reference: r.baseAddress! + start,
                        cleaned: c.baseAddress! + start, frameCount: 160)
                }
            }
        }
        if let finding { return finding }
    }
    return nil
}

@Suite struct VoiceProcessingMonitorTests {
    static let rate = 16_000

    private func noise(_ count: Int, level: Float) -> [Float] {
        var random = SeededRandom(seed: 5)
        return (0..<count).map { _ in level * Float(random.unit() * 2 - 1) }
    }

    @Test func `speech that becomes silence is detected`() throws {
        let talk = try Speech.talk(rate: Self.rate)
        guard case .empty? = verdict(talk, [Float](repeating: 0, count: talk.count)) else {
            Issue.record("not found")
            return
        }
        guard case .empty? = verdict(talk, talk.map { $0 * 0.03 }) else {
            Issue.record("30 dB less is not found")
            return
        }
    }

    @Test func `speech that becomes noise is detected`() throws {
        let talk = try Speech.talk(rate: Self.rate)
        guard case .noise? = verdict(talk, noise(talk.count, level: 0.1)) else {
            Issue.record("not found")
            return
        }
        // Other speech is no better.
        guard case .noise? = verdict(try Speech.words(rate: Self.rate), talk) else {
            Issue.record("other speech is not found")
            return
        }
    }

    @Test func `output without any input is detected`() throws {
        let quiet = noise(5 * Self.rate, level: 0.0005)
        guard case .loud? = verdict(quiet, noise(5 * Self.rate, level: 0.5)) else {
            Issue.record("not found")
            return
        }
    }

    @Test func `repeated output is detected, and NaN at once`() throws {
        let talk = try Speech.talk(rate: Self.rate)
        let frame = noise(160, level: 0.01)
        #expect(verdict(talk.map { $0 * 0.02 }, (0..<talk.count).map { frame[$0 % 160] }) == .stuck(seconds: 5))
        var broken = talk
        broken[1000] = .nan
        #expect(verdict(talk, broken) == .notFinite)
    }

    @Test func `lateness is detected above a fifth of the frames`() {
        var monitor = VoiceProcessingMonitor()
        var finding: VoiceProcessingFinding?
        for i in 0..<600 where finding == nil {
            finding = monitor.observe(wanted: 160, late: i % 6 == 0 ? 160 : 0, sampleRate: 16_000)
        }
        #expect(finding == nil)
        for i in 0..<600 where finding == nil {
            finding = monitor.observe(wanted: 160, late: i % 4 == 0 ? 160 : 0, sampleRate: 16_000)
        }
        guard case .late(5, let share)? = finding else {
            Issue.record("\(String(describing: finding))")
            return
        }
        #expect(share > 0.2 && share < 0.3)
    }

    static let sound: [VoiceProcessingOptions] = [
        VoiceProcessingOptions(), VoiceProcessingOptions(echo: .high, noise: .veryHigh),
        VoiceProcessingOptions(gainControl: .init(gain: 20)),
        VoiceProcessingOptions(gainControl: .init(mode: .fixed, gain: 30)),
        VoiceProcessingOptions(echo: nil, noise: .low),
    ]

    private static let scenes = Result { try makeScenes() }

    private static func makeScenes() throws -> [Scene] {
        let talk = try Speech.talk(rate: rate)
        let words = try Speech.words(rate: rate)
        let pause = [Float](repeating: 0, count: rate)
        return [
            Scene(rate: rate, far: talk),  // echo alone
            Scene(rate: rate, far: talk, coupling: 6),
            Scene(rate: rate, far: [], near: talk),  // a talker alone
            Scene(rate: rate, far: [], near: talk, noise: -40),
            Scene(rate: rate, far: [], near: talk.map { $0 * 0.05 }, noise: -60),
            Scene(rate: rate, far: talk + pause + words, near: words + pause + talk),  // both
            Scene(rate: rate, far: [], near: pause + pause + pause + pause, noise: -35),  // noise alone
        ]
    }

    /// The real processor with echo, noise and a talker, in turn and together.
    @Test(arguments: sound) func `a working processor is kept`(options: VoiceProcessingOptions) throws {
        for (i, scene) in try Self.scenes.get().enumerated() {
            let processor = try VoiceProcessor(sampleRate: Self.rate, options: options)
            let cleaned = [Float](repeating: 0, count: processor.delay) + (try scene.cleaned(processor))
            let finding = verdict(scene.microphone, cleaned, reference: scene.reference, options: options)
            #expect(finding == nil, "scene \(i)")
        }
    }
}
