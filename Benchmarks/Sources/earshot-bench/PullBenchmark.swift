// SPDX-License-Identifier: Apache-2.0

import BenchScenes
import PairedTimes

@testable import EarshotAudioBase
@testable import EarshotAudioCodecs
@testable import EarshotPlayout

/// The cost of Opus's playout in a callback of 64 frames, with peers whose packets all arrive at the same time, the worst case of
/// their phases.
struct PullBenchmark {
    /// Shares of a period, by callback: the 99th percentile, and the median of the most expensive callback in each packet's time,
    /// in which most is decoded.
    var high: Double
    var dearest: Double
    /// The mean.
    var mean: Double
    /// The share of a period in which Opus alone decodes as many packets, the median in the same run.
    var opusAlone: Double

    private static let block = 64
    private static let rate = 48_000.0
    private static let seconds = 20.0

    /// - Parameter wait: the seconds by which packets arrive before a callback that may need them.
    init(peers: Int, duration: OpusFrameDuration, wait: Double = 0.001) throws {
        let (block, rate) = (Self.block, Self.rate)
        let packets = try Sounds.opusPackets(duration)
        let playouts = try (0..<peers).map { _ in
            try Playout(
                PlayoutConfiguration(
                    coding: .opus, streamRate: rate, deviceRate: rate, channelCount: 1,
                    framesPerPacket: duration.frameCount))
        }
        let alone = try (0..<peers).map { _ in try OpusDecoder(channelCount: 1) }
        let output = AudioBuffer(channelCount: 1, frameCapacity: 5_760)
        let period = Double(block) / rate
        let start = HostTime.now()
        let perPacket = duration.frameCount / block
        var shares: [Double] = []
        var aloneShares: [Double] = []
        var sent = 0
        for n in 0..<Int(Self.seconds * rate) / block {
            let due = start.advanced(bySeconds: Double(n) * period)
            while (sent + 1) * duration.frameCount <= n * block {
                let packet = packets[sent % packets.count]
                let header = PacketHeader(
                    sequence: sent, position: sent * duration.frameCount, frameCount: duration.frameCount,
                    byteCount: packet.count, arrival: due.advanced(bySeconds: 0 - wait))
                for playout in playouts where !packet.withUnsafeBytes({ playout.packets.push(header, payload: $0) }) {
                    fatalError("a queue is full")
                }
                let before = ProcessorTime.now()
                for decoder in alone { Self.decode(packet, decoder, output) }
                aloneShares.append((ProcessorTime.now() - before) / period)
                sent += 1
            }
            let before = ProcessorTime.now()
            for playout in playouts {
                playout.renderer.pull(
                    output.channels, frameCount: block, sampleTime: Int64(n * block), hostTime: due)
            }
            shares.append((ProcessorTime.now() - before) / period)
        }
        for playout in playouts where playout.statistics.concealedFrames > 0 { fatalError("something was concealed") }
        shares.removeFirst(Int(2 / period))  // until it has settled
        high = shares.sorted()[shares.count * 99 / 100]
        mean = shares.reduce(0, +) / Double(shares.count)
        let span = max(1, perPacket)
        dearest = median(
            stride(from: 0, to: shares.count - span, by: span).map { shares[$0..<$0 + span].max() ?? 0 })
        opusAlone = median(aloneShares)
    }

    private static func decode(_ packet: [UInt8], _ decoder: OpusDecoder, _ output: AudioBuffer) {
        packet.withUnsafeBufferPointer { bytes in
            _ = decoder.renderer.decode(
                bytes.baseAddress, byteCount: bytes.count, into: output.channels, offset: 0,
                frameCount: OpusDecoder.maximumFrameCount)
        }
    }
}
