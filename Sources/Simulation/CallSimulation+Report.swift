// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport

extension CallSimulation {
    /// The report of the call so far. Runs of the same configuration and length give the same report.
    package var report: SimulationReport {
        let elapsed = (elapsed * 1e9).rounded() / 1e9  // in whole nanoseconds, as the clock counts
        return SimulationReport(
            seed: configuration.seed, seconds: elapsed, measuredFromSeconds: min(elapsed, configuration.measuresFrom),
            isEncrypted: configuration.isEncrypted, digest: Self.hexadecimal(digest),
            peers: peers.map { reported($0) },
            streams: peers.flatMap { from in
                peers.compactMap { to in to.id == from.id ? nil : stream(from.id.rawValue, to) }
            })
    }

    private static func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private func reported(_ peer: SimulatedPeer) -> SimulationReport.Peer {
        func seconds(_ time: HostTime?) -> Double { time?.seconds(since: start) ?? 0 }
        return SimulationReport.Peer(
            number: peer.id.rawValue + 1, rate: peer.preferences.deviceRate, block: peer.preferences.deviceBlock,
            driftPPM: peer.card.configuration.driftPPM,
            microphoneStartSeconds: seconds(peer.card.firstInputFrameTime),
            loudspeakerStartSeconds: seconds(peer.card.firstOutputFrameTime))
    }

    private func stream(_ from: Int, _ to: SimulatedPeer) -> SimulationReport.Stream? {
        guard let meter = to.meter(of: PeerID(from)), let agreement = negotiated[from][to.id.rawValue] else {
            return nil
        }
        let measured = elapsed - (meter.began ?? elapsed)
        let counts = linkCounts(from, to.id.rawValue)
        let (latest, before) = (meter.latest, meter.before)
        let concealed = latest.concealedFrames - before.concealedFrames
        func rate(_ bytes: Int) -> Double {
            measured > 0 ? (Double(8 * bytes) / measured).rounded() / 1e3 : 0
        }
        let rateState = peers[from].statistics(of: to.id).rate
        let headerBytes = RTPPacket.headerSize + (configuration.isEncrypted ? SRTPProfile.aeadAES128GCM.overhead : 0)
        return SimulationReport.Stream(
            from: from + 1, to: to.id.rawValue + 1, codec: "\(agreement.codec)", rate: agreement.streamRate,
            packetFrames: agreement.framesPerPacket, kilobitsPerSecond: rate(counts.bytes),
            payloadKilobitsPerSecond: rate(counts.mediaBytes - counts.sendTimeBytes - counts.media * headerBytes),
            stepsDown: rateState?.stepsDown ?? 0, stepsUp: rateState?.stepsUp ?? 0,
            isLinkTooSlow: rateState?.isTooSlow ?? false,
            mouthToEarMs: meter.mouthToEar.spread, networkMs: networkDelays[from][to.id.rawValue].spread,
            targetDepthMs: meter.target.spread, depthMs: meter.depth.spread,
            driftPPM: (latest.driftPPM * 1e3).rounded() / 1e3, packetsSent: counts.media, packetsLost: counts.lostMedia,
            packetsOverflowed: counts.overflowedMedia,
            packetsLate: latest.latePackets - before.latePackets + to.statistics(of: PeerID(from)).lateUnits
                - meter.lateUnitsBefore,
            packetsMissing: latest.missingPackets - before.missingPackets,
            packetsRecovered: latest.recoveredPackets - before.recoveredPackets,
            packetsRecoveredByRequest: latest.requestedPackets - before.requestedPackets,
            packetsRecoveredByCodec: latest.codecRecoveredPackets - before.codecRecoveredPackets,
            concealedFrames: concealed,
            concealedShare: measured > 0 ? Double(concealed) / (measured * agreement.streamRate) : 0,
            droppedFrames: latest.droppedFrames - before.droppedFrames,
            insertedFrames: latest.insertedFrames - before.insertedFrames, glitches: meter.glitches,
            glitchesPerMinute: measured > 0 ? (Double(meter.glitches) / measured * 6e4).rounded() / 1e3 : 0,
            series: meter.series.reported(from: meter.began ?? 0))
    }

    private func linkCounts(_ from: Int, _ to: Int) -> SimulatedLink.Counts {
        linksBefore.isEmpty ? SimulatedLink.Counts() : links[from][to].counts - linksBefore[from][to]
    }
}

extension SeriesMeter {
    /// - Parameter start: the second of the call at which measuring began.
    fileprivate func reported(from start: Double) -> [SimulationReport.Point] {
        points.enumerated().filter { $1.count > 0 }.map { index, point in
            SimulationReport.Point(
                seconds: ((start + Double(index) * interval) * 1e3).rounded() / 1e3,
                targetDepthMs: (point.target / point.count).asMilliseconds,
                depthMs: (point.depth / point.count).asMilliseconds,
                mouthToEarMs: (point.mouthToEar / point.count).asMilliseconds)
        }
    }
}
