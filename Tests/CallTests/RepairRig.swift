// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotPlayout
import EarshotSimulation
import TestSupport

@testable import EarshotCall

/// Two ends without sound cards on virtual time, in steps of half a millisecond, with a path between them that loses packets on
/// request.
struct RepairRig {
    /// Returns the delay of an end's datagram in seconds, or nil if it is lost.
    typealias Way = (_ end: Int, _ datagram: [UInt8], _ seconds: Double) -> Double?

    final class End {
        var core: MediaCore
        let playout: Playout
        let ring = AudioRing(channelCount: 1, capacity: 24_000)
        let block: AudioBuffer
        var captured = 0
        var pulled = 0

        init(_ configuration: CallConfiguration, _ session: RTPSession) throws {
            core = MediaCore(
                captured: ring, channelCount: 1, deviceRate: configuration.deviceRate,
                deviceBlock: configuration.deviceBlock)
            playout = try Playout(configuration.playout)
            block = AudioBuffer(channelCount: 1, frameCapacity: configuration.deviceBlock)
            core.add(
                try MediaPeer(
                    configuration, stream: StreamEncoder(configuration), playout: playout, session: session),
                as: RepairRig.other)
        }

        var statistics: MediaStatistics { core.statistics(of: RepairRig.other)! }
    }

    static let other = PeerID(1)
    let configuration: CallConfiguration
    let ends: [End]
    var way: Way = { _, _, _ in 0.005 }
    private(set) var now = 0.0
    private(set) var bytes = [0, 0]
    private(set) var largest = 0
    private var steps = 0
    private var flying: [(at: Double, to: Int, bytes: [UInt8])] = []

    static func configuration(
        _ codec: Codec, frames: Int, bitRate: Int = 24_000, repair: RTPRepair = .everything
    ) -> CallConfiguration {
        var configuration = CallConfiguration(
            codec: codec, streamRate: 48_000, channelCount: 1, framesPerPacket: frames,
            bitRate: codec == .pcm ? 0 : bitRate, payloadType: 97, deviceRate: 48_000,
            deviceBlock: codec == .pcm ? frames : 240)
        configuration.repair = repair
        return configuration
    }

    init(_ configuration: CallConfiguration, farSide: CallConfiguration? = nil) throws {
        self.configuration = configuration
        ends = try (0..<2).map { end in
            try End(
                end == 0 ? configuration : farSide ?? configuration,
                RTPSession(
                    ssrc: 0x1000 << UInt32(end), cname: "end", payloadType: 97, clockRate: 48_000,
                    firstSequenceNumber: 0x7FFE, firstTimestamp: .max - 5))
        }
    }

    private var host: HostTime { HostTime(nanoseconds: 5_000_000_000).advanced(bySeconds: now) }

    mutating func run(until seconds: Double) throws {
        while now < seconds {
            steps += 1
            now = Double(steps) * 0.0005
            let due = flying.filter { $0.at <= now }
            flying.removeAll { $0.at <= now }
            for flight in due.sorted(by: { $0.at < $1.at }) {
                flight.bytes.withUnsafeBytes { ends[flight.to].core.receive($0, from: Self.other, at: host) }
            }
            for end in 0..<2 { try turn(end) }
        }
    }

    private mutating func turn(_ end: Int) throws {
        let (this, frames) = (ends[end], configuration.deviceBlock)
        while Double(this.captured + frames) / 48_000 <= now {
            for i in 0..<frames {
                this.block.channels[0][i] = 0.5 * speechLikeNoise(this.captured + i, voice: UInt64(end))
            }
            this.ring.writer.write(this.block.channels, frameCount: frames)
            this.captured += frames
        }
        var sent: [[UInt8]] = []
        try this.core.sendCaptured(at: host) { datagram, _ in sent.append(Array(datagram)) }
        this.core.tick(at: host) { datagram, _ in sent.append(Array(datagram)) }
        for datagram in sent {
            bytes[end] += datagram.count
            largest = max(largest, datagram.count)
            if let delay = way(end, datagram, now) { flying.append((now + delay, 1 - end, datagram)) }
        }
        while Double(this.pulled + frames) / 48_000 <= now {
            this.pulled += frames
            this.playout.renderer.pull(
                this.block.channels, frameCount: frames, sampleTime: Int64(this.pulled), hostTime: host)
        }
    }
}

extension RTPRepair {
    /// Everything that native peers negotiate.
    static var everything: RTPRepair {
        var repair = RTPRepair()
        (repair.redundant, repair.repeated) = (99, 100)
        (repair.takesNACK, repair.takesReports) = (true, true)
        return repair
    }
}

/// A path with a delay of 5 ms that loses one end's sound packets in bursts of a mean length (Gilbert).
func lossy(_ loss: Double, burst: Double = 1, seed: UInt64 = 1, delay: Double = 0.005) -> RepairRig.Way {
    var random = SeededRandom(seed: seed)
    var isLost = false
    return { end, datagram, _ in
        guard end == 0, !(192...223).contains(datagram[1]) else { return delay }
        let stays = burst > 1 ? 1 - 1 / burst : loss
        let enters = burst > 1 ? loss / (1 - loss) / burst : loss
        isLost = random.unit() < (isLost ? stays : enters)
        return isLost ? nil : delay
    }
}
