// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotDiagnostics
import Foundation
import Testing

/// A simulated card with a ``Loopback`` on virtual time. The output of its loudspeaker, changed by `path`, enters its microphone
/// at the same time: two blocks after it was rendered.
final class LoopRig {
    let card: SimulatedCard
    let loopback: Loopback
    /// Converts the played sound to the captured sound; nil for an open loop.
    var path: (([Float]) -> [Float])?
    /// The other sound at the microphone, frame by frame.
    var air: (Int) -> Float = { _ in 0 }
    /// The played sound so far.
    private(set) var played: [Float] = []
    private let toCard: AudioRing
    private let fromCard: AudioRing
    private let block: AudioBuffer
    private var heard: [Float]  // what the air brings, from `fed` on
    private var fed = 0

    init(rate: Double, block frames: Int, maximumRoundTrip: Double = 1) throws {
        toCard = AudioRing(channelCount: 1, capacity: 16 * frames)
        fromCard = AudioRing(channelCount: 1, capacity: 16 * frames)
        block = AudioBuffer(channelCount: 1, frameCapacity: frames)
        card = try SimulatedCard(
            SimulatedCard.Configuration(
                sampleRate: rate, blockFrameCount: frames, source: toCard, sink: fromCard))
        loopback = Loopback(sampleRate: rate, inputChannelCount: 1, maximumRoundTrip: maximumRoundTrip)
        heard = [Float](repeating: 0, count: 2 * frames)
        card.renderer.start(at: HostTime(nanoseconds: 0))
    }

    /// Runs for at least `frameCount` frames.
    func run(_ frameCount: Int) {
        let frames = card.configuration.blockFrameCount
        let end = played.count + frameCount
        while played.count < end {
            for i in 0..<frames { block.channels[0][i] = heard[i] + air(fed + i) }
            heard.removeFirst(frames)
            fed += frames
            toCard.writer.write(block.channels, frameCount: frames)
            let due = card.renderer.nextCallTime
            var cycle = card.renderer.beginCycle(at: due)
            loopback.callback(&cycle)
            card.renderer.endCycle(at: due)
            _ = fromCard.reader.read(block.channels, frameCount: frames)
            let said = Array(UnsafeBufferPointer(start: block.channels[0], count: frames))
            played += said
            heard += path?(said) ?? [Float](repeating: 0, count: frames)
        }
    }

    func run(seconds: Double) { run(Int(seconds * card.configuration.sampleRate)) }

    /// Makes the card skip cycles.
    func skip(cycles: Int) {
        let frames = card.configuration.blockFrameCount
        let late = card.renderer.nextCallTime.advanced(
            bySeconds: Double(cycles * frames) / card.configuration.sampleRate + 1e-6)
        var cycle = card.renderer.beginCycle(at: late)
        loopback.callback(&cycle)
        card.renderer.endCycle(at: late)
        while fromCard.reader.read(block.channels, frameCount: frames).frameCount > 0 {}
    }

    func probe() throws -> ProbeCapture {
        loopback.startProbe()
        run(seconds: loopback.probeDuration + 0.02)
        run(2 * card.configuration.blockFrameCount)
        return try #require(try loopback.takeProbe())
    }

    func measure() throws -> RoundTrip { try RoundTrip(try probe()) }
}

/// Acoustic paths from a loudspeaker to a microphone.
enum Path {
    /// A delay of whole frames with a gain.
    static func delay(_ frameCount: Int, gain: Float = 1) -> ([Float]) -> [Float] {
        var line = [Float](repeating: 0, count: frameCount)
        return { said in
            line += said.map { gain * $0 }
            defer { line.removeFirst(said.count) }
            return Array(line.prefix(said.count))
        }
    }

    /// A fractional delay by a Hann-windowed sinc of 64 taps.
    static func fractional(_ frames: Double) -> ([Float]) -> [Float] {
        let whole = Int(frames)
        let taps = (0..<64).map { k -> Double in
            let x = Double(k - 32) - (frames - Double(whole))
            let sinc = abs(x) < 1e-9 ? 1 : sin(.pi * x) / (.pi * x)
            return abs(x) < 32 ? sinc * (0.5 + 0.5 * cos(.pi * x / 32)) : 0
        }
        let delay = Path.delay(whole - 32)
        var past = [Float](repeating: 0, count: 63)
        return { said in
            let all = past + said
            past = Array(all.suffix(63))
            return delay(
                said.indices.map { n in
                    Float(taps.indices.reduce(0) { $0 + taps[$1] * Double(all[n + 63 - $1]) })
                })
        }
    }

    /// A small loudspeaker in a room: a high pass, and echoes that decay within 0.3 s.
    static func room(_ frameCount: Int, rate: Double) -> ([Float]) -> [Float] {
        let direct = delay(frameCount)
        var noise = Noise(seed: 7)
        let echoes = (0..<40).map { k in
            let at = frameCount + Int(rate * (0.003 + 0.3 * Double(noise.next().magnitude)))
            return delay(at, gain: 0.5 * noise.next() * exp(-Float(k) / 15))
        }
        var (last, out): (Float, Float) = (0, 0)
        return { said in
            var sum = direct(said)
            for echo in echoes { for (i, x) in echo(said).enumerated() { sum[i] += x } }
            return sum.map { x in
                out = 0.95 * (out + x - last)
                last = x
                return out
            }
        }
    }
}
