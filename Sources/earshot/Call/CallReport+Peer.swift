// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotLiveCall
import EarshotMediaTransport
import EarshotRooms

extension CallReport.Peer {
    init(_ record: ParticipantRecord) {
        self.init(record.participant, record.statistics, heardSeconds: record.heardSeconds)
        address = record.pair.map { $0.remote.description }
        leftAfterSeconds = record.leftAfter
        transport = record.transport.map {
            CallReport.Transport(
                unauthentic: $0.statistics.unauthentic, replayed: $0.statistics.replayed, moves: $0.statistics.moves)
        }
    }

    private init(_ member: Participant, _ statistics: CallStatistics, heardSeconds: Double) {
        let configuration = statistics.configuration
        let (rtp, media, playout) = (statistics.media.rtp, statistics.media, statistics.playout)
        self.init(
            name: member.name.text, key: member.key?.hex, codec: configuration.codec.rawValue,
            rate: configuration.streamRate, channels: configuration.channelCount,
            packetFrames: configuration.framesPerPacket,
            bitRate: configuration.codec == .pcm ? nil : configuration.bitRate,
            sent: CallReport.Sent(
                packets: rtp.packetsSent, bytes: rtp.bytesSent, lostBeforeEncoding: media.captureLostFrames,
                repeated: media.repeatedPackets, retransmitted: media.retransmittedPackets,
                stepsDown: media.rate?.stepsDown ?? 0, stepsUp: media.rate?.stepsUp ?? 0,
                isLinkTooSlow: media.rate?.isTooSlow ?? false),
            received: CallReport.Received(
                packets: rtp.packetsReceived, bytes: rtp.bytesReceived, lost: max(0, rtp.packetsMissing),
                late: playout.latePackets + media.lateUnits, missing: playout.missingPackets,
                duplicates: rtp.packetsDuplicate, reordered: rtp.packetsReordered, corrupt: media.corruptPackets,
                rejected: media.rejectedPackets, restarts: playout.restarts,
                recovered: media.recoveredPackets + playout.codecRecoveredPackets,
                recoveredInTime: playout.recoveredPackets,
                redundant: media.redundantPackets, nacks: media.nacksSent,
                concealedFrames: playout.concealedFrames,
                concealedMs: Double(playout.concealedFrames) / configuration.streamRate * 1e3,
                stretchedFrames: playout.stretchedFrames,
                stretchedMs: Double(playout.stretchedFrames) / configuration.streamRate * 1e3,
                glitches: playout.glitches,
                glitchesPerMinute: heardSeconds >= 1 ? Double(playout.glitches) / heardSeconds * 60 : 0,
                skips: playout.skips,
                droppedFrames: playout.droppedFrames, insertedFrames: playout.insertedFrames),
            delay: CallReport.Delay(
                mouthToEarEstimateMs: statistics.mouthToEar.map { $0 * 1e3 }, playoutMs: playout.delay * 1e3,
                depthMs: playout.depth * 1e3, targetDepthMs: playout.targetDepth * 1e3,
                dial: configuration.latencyProfile.description, roundTripMs: rtp.roundTrip.map { $0 * 1e3 },
                jitterMs: rtp.jitter * 1e3,
                driftPPM: playout.driftPPM), forecast: LinkForecast(statistics.forecast))
    }
}
