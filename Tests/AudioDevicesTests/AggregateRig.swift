// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc
import TestSupport

@testable import EarshotAudioDevices

/// The cards of a microphone and of a loudspeaker as one device on virtual time. Its client plays what it captures.
///
/// The microphone captures a sine of 1 kHz, and one of 5 Hz in two phases that shows the delay from converter to converter.
final class AggregateRig {
    let microphone: SimulatedCard
    let loudspeaker: SimulatedCard
    let core: AggregateCore
    /// The time and the delay of each loudspeaker cycle with sound, in seconds.
    private(set) var delays: [(time: Double, delay: Double)] = []
    /// The loudspeaker's output of the 1 kHz sine, in arrays of one second.
    private(set) var seconds: [[Float]] = []
    private(set) var underruns: [Double] = []
    private let source = AudioRing(channelCount: 3, capacity: 1 << 18)
    private let sink = AudioRing(channelCount: 3, capacity: 1 << 18)
    private let buffer = AudioBuffer(channelCount: 3, frameCapacity: 8_192)
    private let origin = HostTime(nanoseconds: 1_000_000_000)
    private var fed: Int64 = 0
    private var played: Int64 = 0
    private var hears: Bool

    init(
        _ input: SimulatedCard.Configuration, _ output: SimulatedCard.Configuration, offset: Double = 0.0007,
        inputCalls: Bool = true
    ) throws {
        var (input, output) = (input, output)
        (input.inputChannelCount, input.outputChannelCount, input.source) = (3, 0, source)
        (output.inputChannelCount, output.outputChannelCount, output.sink) = (0, 3, sink)
        microphone = try SimulatedCard(input)
        loudspeaker = try SimulatedCard(output)
        hears = inputCalls
        core = AggregateCore(
            inputRate: input.sampleRate, outputRate: output.sampleRate, channelCount: 3,
            inputLatency: Double(input.longestBlock) / input.sampleRate,
            longestOutput: 2 * Double(output.longestBlock) / output.sampleRate)
        core.prepare(
            RenderCallback(context: nil) { _, cycle in
                guard let cycle = cycle?.assumingMemoryBound(to: IOCycle.self).pointee else { return }
                for c in 0..<3 { copySamples(cycle.output[c], cycle.input[c], cycle.frameCount) }
            })
        microphone.renderer.start(at: origin.advanced(bySeconds: offset))
        loudspeaker.renderer.start(at: origin)
    }

    /// Runs until this many seconds after the start.
    func run(until end: Double) {
        let (capture, render) = (core.captureCallback, core.renderCallback)
        while true {
            let (a, b) = (microphone.renderer.nextCallTime, loudspeaker.renderer.nextCallTime)
            let now = hears ? min(a, b) : b
            guard now.seconds(since: origin) < end else { return }
            if hears, a <= b {
                feed(until: now)
                var cycle = microphone.renderer.beginCycle(at: now)
                capture(&cycle)
                microphone.renderer.endCycle(at: now)
            } else {
                let before = core.underrunCount
                var cycle = loudspeaker.renderer.beginCycle(at: now)
                render(&cycle)
                loudspeaker.renderer.endCycle(at: now)
                if core.underrunCount > before { underruns.append(now.seconds(since: origin)) }
                listen()
            }
        }
    }

    private func seconds(_ card: SimulatedCard, _ frame: Int64) -> Double {
        (card.time(ofFrame: frame) ?? origin).seconds(since: origin)
    }

    /// Provides the microphone's sound until one block after `now`.
    private func feed(until now: HostTime) {
        let block = 256
        while seconds(microphone, fed) < now.seconds(since: origin) + 0.01 {
            let (from, to) = (seconds(microphone, fed), seconds(microphone, fed + Int64(block)))
            for (c, (frequency, phase)) in [(1_000.0, 0.0), (5, 0), (5, Double.pi / 2)].enumerated() {
                let turn = 2 * Double.pi * frequency * (to - from) / Double(block)
                let start = 2 * Double.pi * frequency * from + phase
                var (x, y) = (cos(start), sin(start))
                let (cosine, sine) = (cos(turn), sin(turn))
                for i in 0..<block {
                    buffer.channels[c][i] = Float(0.5 * y)
                    (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
                }
            }
            source.writer.write(buffer.channels, frameCount: block)
            fed += Int64(block)
        }
    }

    private func listen() {
        let count = sink.reader.read(buffer.channels, frameCount: 8_192).frameCount
        guard count > 0 else { return }
        let time = seconds(loudspeaker, played + Int64(2 * loudspeaker.configuration.longestBlock))
        let (y, x) = (Double(buffer.channels[1][0]), Double(buffer.channels[2][0]))
        if x * x + y * y > 0.2 {
            let delay = time - atan2(y, x) / (2 * Double.pi * 5)
            delays.append((time, delay - 0.2 * floor(delay / 0.2)))
        }
        for i in 0..<count {
            if seconds.isEmpty || seconds[seconds.count - 1].count == Int(loudspeaker.configuration.sampleRate) {
                seconds.append([])
            }
            seconds[seconds.count - 1].append(buffer.channels[0][i])
        }
        played += Int64(count)
    }

    /// Returns the minimum, the maximum and the number of the delays between two times.
    func delays(from: Double, to: Double = .infinity) -> (least: Double, most: Double, count: Int) {
        let found = delays.filter { $0.time >= from && $0.time < to }.map(\.delay)
        return (found.min() ?? -.infinity, found.max() ?? .infinity, found.count)
    }

    /// Returns the distance of the worst second from a sine, in dB.
    func defect(from: Int, to: Int = .max) -> Double {
        seconds.enumerated().filter { $0.offset >= from && $0.offset < to }.map {
            sineDefect($0.element, frequency: 1_000, rate: loudspeaker.configuration.trueSampleRate)
        }.max() ?? 0
    }
}
