// SPDX-License-Identifier: Apache-2.0

import BenchScenes
import PairedTimes

@testable import EarshotAudioBase
@testable import EarshotAudioCodecs
@testable import EarshotAudioDSP
@testable import EarshotPlayout

/// The worst effect of losses on a callback: seven peers' packets of PCM, one period each, are occasionally all lost at once.
struct ConcealmentBenchmark {
    static let peers = 7
    /// The share of a period of the callback that must begin seven continuations: the median over the losses, of the maximum over
    /// the callbacks of each loss; and the 90th percentile.
    var begun: Double
    var high: Double
    /// The median of all other callbacks.
    var plain: Double

    private static let block = 64
    private static let rate = 48_000.0
    private static let losses = 200
    private static let spacing = 40  // packets

    init(channelCount: Int) throws {
        let (block, rate) = (Self.block, Self.rate)
        let configuration = PlayoutConfiguration(
            coding: .pcm, streamRate: rate, deviceRate: rate, channelCount: channelCount, framesPerPacket: block)
        let playouts = try (0..<Self.peers).map { _ in try Playout(configuration) }
        let voice = Sounds.voice(sampleRate: rate)
        let sound = AudioBuffer(channelCount: channelCount, frameCapacity: block)
        let output = AudioBuffer(channelCount: channelCount, frameCapacity: block)
        let payload = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 2 * block * channelCount)
        defer { payload.deallocate() }
        let start = HostTime.now()
        var worst: [Double] = []
        var others: [Double] = []
        for n in 0..<Self.losses * Self.spacing {
            let due = start.advanced(bySeconds: Double(n * block) / rate)
            for c in 0..<channelCount {
                copySamples(
                    sound.channels[c], voice.channels[0] + (n + 100 * c) * block % (voice.frameCapacity - block), block)
            }
            if n % Self.spacing != Self.spacing - 5, let bytes = payload.baseAddress {
                let count = PCMCodec.encode(sound.channels, offset: 0, frameCount: block, into: bytes)
                let header = PacketHeader(
                    sequence: n, position: n * block, frameCount: block, byteCount: count,
                    arrival: due.advanced(bySeconds: -0.001))
                for playout in playouts {
                    guard playout.packets.push(header, payload: UnsafeRawBufferPointer(payload)) else {
                        fatalError("a queue is full")
                    }
                }
            }
            let before = HostTime.now()
            for playout in playouts {
                playout.renderer.pull(
                    output.channels, frameCount: block, sampleTime: Int64(n * block), hostTime: due)
            }
            let share = HostTime.now().seconds(since: before) * rate / Double(block)
            let place = n % Self.spacing - (Self.spacing - 5)  // from the packet that is lost on
            if place == 0 { worst.append(share) } else if place < 0 { others.append(share) }
            if place > 0 { worst[worst.count - 1] = max(worst[worst.count - 1], share) }
        }
        for playout in playouts where playout.statistics.concealedFrames < Self.losses * block * 9 / 10 {
            fatalError("\(playout.statistics.concealedFrames) frames were concealed")
        }
        begun = median(worst)
        high = worst.sorted()[worst.count * 9 / 10]
        plain = median(others)
    }
}

/// The cost of the predictor itself, in seconds.
struct PredictorBenchmark {
    var analysis: Double
    var frame: Double

    init() {
        let voice = Sounds.voice(sampleRate: 48_000)
        var predictor = LinearPredictor()
        var sum: Float = 0
        var analyses: [Double] = []
        var frames: [Double] = []
        for round in 0..<500 {
            let before = HostTime.now()
            predictor.analyze(voice.channels[0] + 24_000 + round * 100)
            let between = HostTime.now()
            for _ in 0..<128 { sum += predictor.next() }
            analyses.append(between.seconds(since: before))
            frames.append(HostTime.now().seconds(since: between) / 128)
        }
        guard sum.isFinite else { fatalError("the prediction runs away") }
        analysis = median(analyses)
        frame = median(frames)
    }
}
