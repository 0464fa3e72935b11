import Call
import MediaTransport
import Rooms

/// What the report says of each of the others, those who have left too. Asked for once; ``update(_:_:_:at:)`` comes many times
/// a second and only keeps what it is told.
struct RoomPeers {
    private var all: [MemberID: Known] = [:]

    private struct Known {
        var member: Member
        var statistics: CallStatistics
        /// The last that was known, as was the address that its sound went to.
        var way: MediaPortReport?
        var pair: ICEPair?
        /// Since when there is sound of it, and until when it was looked at: seconds from the beginning of the call.
        var heardSince: Double?
        var seconds: Double
        var leftAfterSeconds: Double?
    }

    /// How the call with a member stands, so many seconds from its beginning.
    mutating func update(
        _ member: Member, _ statistics: CallStatistics, _ way: MediaPortReport?, at seconds: Double
    ) {
        let before = all[member.id]
        all[member.id] = Known(
            member: member, statistics: statistics, way: way ?? before?.way, pair: way?.pair ?? before?.pair,
            heardSince: before?.heardSince ?? (statistics.playout.isStarted ? seconds : nil), seconds: seconds)
    }

    /// A member is gone. Said again it changes nothing.
    mutating func left(_ member: MemberID, after seconds: Double) {
        if all[member]?.leftAfterSeconds == nil { all[member]?.leftAfterSeconds = seconds }
    }

    /// In the order of their coming.
    var report: [CallReport.Peer] {
        all.sorted { $0.key < $1.key }.map { _, known in
            var peer = CallReport.Peer(
                known.member, known.statistics, heardSeconds: known.heardSince.map { known.seconds - $0 } ?? 0)
            peer.address = known.pair.map { $0.remote.description }
            peer.leftAfterSeconds = known.leftAfterSeconds
            peer.transport = known.way.map {
                CallReport.Transport(
                    unauthentic: $0.statistics.unauthentic, replayed: $0.statistics.replayed,
                    moves: $0.statistics.moves)
            }
            return peer
        }
    }
}

extension CallReport.Peer {
    fileprivate init(_ member: Member, _ statistics: CallStatistics, heardSeconds: Double) {
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
                dial: configuration.dial.description, roundTripMs: rtp.roundTrip.map { $0 * 1e3 },
                jitterMs: rtp.jitter * 1e3,
                driftPPM: playout.driftPPM), forecast: LinkForecast(statistics.forecast))
    }
}

extension CallConfiguration {
    /// `opus 48 kHz mono, 10 ms a packet`.
    var words: String {
        let kilohertz = streamRate / 1000
        let rate = kilohertz == kilohertz.rounded() ? String(Int(kilohertz)) : String(kilohertz)
        let packet = Double(framesPerPacket) / streamRate * 1e3
        let length = (packet * 10).rounded() / 10
        return "\(codec) \(rate) kHz \(channelCount == 1 ? "mono" : "stereo"), \(length) ms a packet"
    }
}
