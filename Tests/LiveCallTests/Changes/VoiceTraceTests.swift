// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport
import Testing

@testable import EarshotCall
@testable import EarshotPlayout

/// The cause of each gap, by the counters of a real playout.
@Suite struct VoiceTraceTests {
    private static let rate = 48_000.0
    private static let (blockFrames, packetFrames) = (64, 128)
    private static let beginning = HostTime(nanoseconds: 1_000_000_000)

    /// The trace of a voice in packets of PCM, and the time at which its gap was noted.
    private struct Run {
        var trace = VoiceTrace()
        var gapTime: HostTime?
    }

    /// A disturbance of a voice.
    enum Disturbance {
        case none, lostPacket
        /// A packet that is little later than all before, so that playout delays the voice; or much later, so that it does not.
        case latePacket, stall
        /// Frames that the listener's device skips, or that the speaker's does not deliver.
        case skippedDevice, lostCapture

        /// The seconds after which it comes. At first the dial allows no late packet, so that playout follows a single one.
        var time: Double { self == .latePacket ? 0.8 : 2 }

        /// The seconds for which the packet is on its way.
        var delay: Double? {
            switch self {
            case .latePacket: 0.0085
            case .stall: 0.03
            default: nil
            }
        }
    }

    private static func time(_ seconds: Double) -> HostTime { beginning.advanced(bySeconds: seconds) }

    /// Plays a voice for three seconds, and notes a gap as ``ChangedCall`` does: every 50 ms.
    private func run(_ disturbance: Disturbance) throws -> Run {
        let playout = try Playout(
            PlayoutConfiguration(
                coding: .pcm, streamRate: Self.rate, deviceRate: Self.rate, channelCount: 1,
                framesPerPacket: Self.packetFrames))
        let block = AudioBuffer(channelCount: 1, frameCapacity: Self.blockFrames)
        let payload = [UInt8](repeating: 0, count: 2 * Self.packetFrames)
        var (run, sampleTime, sequence, missing, lastArrival) = (Run(), Int64(0), 0, 0, 0.0)
        var media = MediaStatistics(rtp: RTPStatistics())
        for cycle in 0..<Int(3 * Self.rate) / Self.blockFrames {
            let now = Double(cycle * Self.blockFrames) / Self.rate
            let isDisturbed = cycle == Int(disturbance.time * Self.rate) / Self.blockFrames
            while true {
                let sent = Double((sequence + 1) * Self.packetFrames) / Self.rate
                let isDisturbed = (disturbance.time..<disturbance.time + 0.002_6).contains(sent)
                // Every other packet is 2 ms later, and none overtakes another.
                let delay = isDisturbed ? disturbance.delay : nil
                let arrival = max(lastArrival, sent + (delay ?? (sequence % 2 == 0 ? 0.001 : 0.003)))
                guard arrival <= now else { break }
                lastArrival = arrival
                if !isDisturbed || disturbance != .lostPacket {
                    let header = PacketHeader(
                        sequence: sequence, position: sequence * Self.packetFrames, frameCount: Self.packetFrames,
                        byteCount: payload.count, arrival: Self.time(arrival))
                    _ = payload.withUnsafeBytes { playout.packets.push(header, payload: $0) }
                }
                sequence += 1
            }
            if isDisturbed, disturbance == .skippedDevice { sampleTime += 480 }
            if isDisturbed, disturbance == .lostCapture { media.captureLostFrames += 480 }
            playout.renderer.pull(
                block.channels, frameCount: Self.blockFrames, sampleTime: sampleTime, hostTime: Self.time(now))
            sampleTime += Int64(Self.blockFrames)
            run.trace.add(Self.statistics(playout.statistics, media), at: Self.time(now))
            guard cycle % 37 == 0 else { continue }
            let count =
                playout.statistics.concealedFrames + playout.statistics.droppedFrames + media.captureLostFrames
            if count > missing, now > 0.5, run.gapTime == nil { run.gapTime = Self.time(now) }
            missing = count
        }
        return run
    }

    private static func statistics(
        _ playout: PlayoutStatistics, _ media: MediaStatistics = MediaStatistics(rtp: RTPStatistics()),
        _ profile: LatencyProfile = .talk
    ) -> CallStatistics {
        var configuration = CallConfiguration(
            codec: .pcm, streamRate: rate, channelCount: 1, framesPerPacket: packetFrames, bitRate: 0, payloadType: 97,
            deviceRate: rate, deviceBlock: blockFrames)
        configuration.latencyProfile = profile
        var statistics = CallStatistics(configuration: configuration, direction: .sendReceive, media: media)
        statistics.playout = playout
        return statistics
    }

    @Test(
        arguments: [
            (.latePacket, .latePacket), (.lostPacket, .lostPacket), (.skippedDevice, .skip), (.lostCapture, .skip),
            (.stall, .unknown),
        ] as [(Disturbance, VoiceTrace.Cause)])
    func `a gap has the cause that the counters show`(
        disturbance: Disturbance, expected: VoiceTrace.Cause
    ) throws {
        let run = try run(disturbance)
        let cause = run.trace.cause(at: try #require(run.gapTime))
        #expect(cause == expected, "\(cause)")
    }

    @Test func `a steady voice has no gap, and none has a cause`() throws {
        let run = try run(.none)
        #expect(run.gapTime == nil && run.trace.cause(at: Self.time(2)) == .unknown)
        #expect(VoiceTrace().cause(at: Self.time(2)) == .unknown)
    }

    /// Counters of before the 60 ms that a gap is old at most, and of later than 100 ms, do not tell its cause.
    @Test func `another gap does not tell the cause of a gap`() {
        var (trace, playout) = (VoiceTrace(), PlayoutStatistics())
        func add(_ seconds: Double, _ change: (inout PlayoutStatistics) -> Void = { _ in }) {
            change(&playout)
            trace.add(Self.statistics(playout), at: Self.time(seconds))
        }
        add(0)
        add(1.8) { $0.missingPackets += 1 }
        add(2) { ($0.concealedFrames, $0.insertedFrames) = (20, 21) }
        add(2.2) { $0.droppedFrames += 64 }
        #expect(trace.cause(at: Self.time(2.02)) == .latePacket)
        #expect(trace.cause(at: Self.time(1.82)) == .lostPacket)
        #expect(trace.cause(at: Self.time(2.22)) == .skip)
        // More was concealed than playout has delayed the voice by.
        add(3) { ($0.concealedFrames, $0.insertedFrames) = (70, 70) }
        #expect(trace.cause(at: Self.time(3.02)) == .unknown)
    }

    /// A repeated stretch is heard for up to 40 ms after it was made.
    @Test func `a voice jumps while a stretch or a gap is heard, and not when it begins`() {
        var (trace, playout) = (VoiceTrace(), PlayoutStatistics())
        trace.add(Self.statistics(playout), at: Self.time(0))
        playout.stretchedFrames = 480
        trace.add(Self.statistics(playout), at: Self.time(1))
        playout.concealedFrames = 64
        trace.add(Self.statistics(playout), at: Self.time(2))
        let jumps = [0.0, 0.97, 1, 1.03, 1.05, 1.97, 2, 2.05].map {
            trace.jumps(from: Self.time($0), to: Self.time($0 + 0.015))
        }
        #expect(jumps == [false, true, true, true, false, true, true, false])
    }

    @Test func `the dial allows its share of late packets, and always one`() {
        var (trace, playout) = (VoiceTrace(), PlayoutStatistics())
        playout.packets = 50
        trace.add(Self.statistics(playout, .init(rtp: RTPStatistics()), .listen), at: Self.time(0))
        #expect(trace.allows(latePackets: 1) && !trace.allows(latePackets: 2))
        playout.packets = 1_000
        // The fastest dial of the call counts, also after it was changed again.
        for profile in [LatencyProfile.talk, .sing, .listen] {
            trace.add(Self.statistics(playout, .init(rtp: RTPStatistics()), profile), at: Self.time(1))
        }
        #expect(trace.packetCount == 1_000 && trace.lateShare == LatencyProfile.sing.lateShare)
        #expect(trace.allows(latePackets: 10) && !trace.allows(latePackets: 11))
    }
}
