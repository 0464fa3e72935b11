// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EngineMeasures
import Foundation
import Testing

@testable import EarshotCall

/// The damper alone, with sounds that are no feedback, and a loop of a single tone. A test with rooms is `FeedbackTests`.
@Suite struct FeedbackDamperTests {
    private static let rate = 48_000.0
    private static let block = 128

    /// Sends a sound through a damper in blocks. The next block may depend on what was sent.
    private struct Line: ~Copyable {
        var damper: FeedbackDamper
        let buffer: AudioBuffer
        var sent: [Float] = []

        init(channelCount: Int = 1) {
            damper = FeedbackDamper(sampleRate: rate, channelCount: channelCount)
            buffer = AudioBuffer(channelCount: channelCount, frameCapacity: block)
        }

        mutating func send(_ samples: [Float]) {
            for c in 0..<buffer.channels.count {
                for i in samples.indices { buffer.channels[c][i] = samples[i] }
            }
            damper.process(buffer.channels, samples.count)
            sent += UnsafeBufferPointer(start: buffer.channels[buffer.channels.count - 1], count: samples.count)
        }
    }

    /// A room in which only tones around 1 kHz are loud.
    private struct Resonance {
        private static let radius: Float = 0.997
        private var (x1, x2, y1, y2): (Float, Float, Float, Float) = (0, 0, 0, 0)

        mutating func next(_ x: Float) -> Float {
            let turn = 2 * Self.radius * Float(cos(2 * .pi * 1_000 / rate))
            let y = (1 - Self.radius * Self.radius) / 2 * (x - x2) + turn * y1 - Self.radius * Self.radius * y2
            (x1, x2, y1, y2) = (x, x1, y, y1)
            return y
        }
    }

    /// A tone of 250 Hz, whose clicks a ``ClickMeter`` hears, or of another frequency, that grows by `decibels` a second up to an amplitude.
    private static func tone(
        _ frequency: Double = 250, from start: Double, decibels: Double, upTo end: Double = 0.2, seconds: Double
    ) -> [Float] {
        (0..<Int(seconds * rate)).map { frame in
            let time = Double(frame) / rate
            return Float(min(end, start * pow(10, decibels * time / 20)) * sin(2 * .pi * frequency * time))
        }
    }

    private static func send(_ sound: [Float], channelCount: Int = 1) -> (sent: [Float], report: FeedbackReport) {
        var line = Line(channelCount: channelCount)
        for first in stride(from: 0, through: sound.count - block, by: block) {
            line.send(Array(sound[first..<first + block]))
        }
        return (line.sent, line.damper.report)
    }

    @Test(arguments: [1, 2]) func `a tone that grows is tested without a click, and released`(channelCount: Int) {
        let sound = Self.tone(from: 0.01, decibels: 20, seconds: 4)
        let (sent, report) = Self.send(sound, channelCount: channelCount)
        #expect(report == FeedbackReport())
        // Steady from 1.7 s on, when it has its full level again.
        let end = Int(3 * Self.rate)
        let isUnchanged = (end..<sent.count).allSatisfy { abs(sent[$0] - sound[$0]) < 1e-4 }
        let isTested = stride(from: 0, to: end, by: 4_800).contains { first in
            let (one, other) = (sent[first..<first + 4_800], sound[first..<first + 4_800])
            return one.reduce(0) { $0 + $1 * $1 } < 0.02 * other.reduce(0) { $0 + $1 * $1 }
        }
        #expect(isUnchanged && isTested)
        var clicks = ClickMeter(settling: 4_800)
        for sample in sent { clicks.add(sample) }
        #expect(clicks.level < -60, "\(clicks.level) dBFS")
    }

    @Test func `a tone that goes round a loop is damped and stays damped, until the device changes`() {
        var line = Line()
        let delay = 15  // blocks, 40 ms
        var room = Resonance()
        var loudest: Float = 0
        for number in 0..<3_750 {  // 10 s
            let first = number * Self.block
            let echo = number < delay ? nil : Array(line.sent[(first - delay * Self.block)...].prefix(Self.block))
            let samples = (0..<Self.block).map { i in
                let start = Float(1e-3 * sin(2 * .pi * 1_000 * Double(first + i) / Self.rate))
                return max(-1, min(1, start + 1.3 * room.next(echo?[i] ?? 0)))
            }
            line.send(samples)
            loudest = max(loudest, samples.reduce(0) { max($0, abs($1)) })
        }
        #expect(line.damper.report.count == 1 && abs(line.damper.report.frequency - 1_000) < 3)
        #expect(loudest < 0.02)
        let last = line.sent.suffix(4_800).reduce(0) { max($0, abs($1)) }
        #expect(last < 2e-3)
        // The rest of the voice is 2 dB softer.
        let other = Self.tone(300, from: 0.1, decibels: 0, seconds: 1)
        for first in stride(from: 0, through: other.count - Self.block, by: Self.block) {
            line.send(Array(other[first..<first + Self.block]))
        }
        let peak = line.sent.suffix(4_800).reduce(0) { max($0, abs($1)) }
        #expect((0.073...0.083).contains(peak), "\(peak)")
        line.damper.restart()
        // The band fades out, and then no sample is changed.
        let speech = (0..<Self.block * 200).map { Float(0.2 * sin(0.05 * Double($0)) * sin(0.001 * Double($0))) }
        for first in stride(from: 0, to: speech.count, by: Self.block) {
            line.send(Array(speech[first..<first + Self.block]))
        }
        #expect(line.sent.suffix(Self.block * 50).elementsEqual(speech.suffix(Self.block * 50)))
    }

    @Test func `a steady tone near full scale is tested once`() {
        let sound = Self.tone(1_000, from: 0.5, decibels: 0, upTo: 0.5, seconds: 20)
        let (sent, report) = Self.send(sound)
        #expect(report == FeedbackReport())
        let windows = stride(from: 0, to: sent.count - 4_800, by: 4_800).map { first in
            sent[first..<first + 4_800].reduce(0) { $0 + $1 * $1 } / 4_800
        }
        let softer = windows.indices.filter { windows[$0] < 0.12 }
        #expect(!softer.isEmpty && softer.count <= 4 && softer[softer.count - 1] - softer[0] < 5, "\(softer)")
    }

    @Test func `a note with harmonics, a steady tone and silence are not touched`() {
        let frames = Int(4 * Self.rate)
        let note = (0..<frames).map { frame in
            let time = Double(frame) / Self.rate
            let level = min(0.3, 0.01 * pow(10, time))
            return Float(level * (1...6).reduce(0) { $0 + sin(2 * .pi * 220 * Double($1) * time) / Double($1) })
        }
        let steady = Self.tone(1_000, from: 0.1, decibels: 0, seconds: 4)
        for sound in [note, steady, [Float](repeating: 0, count: frames)] {
            let (sent, report) = Self.send(sound)
            #expect(sent.elementsEqual(sound.prefix(sent.count)) && report == FeedbackReport())
        }
    }
}
