// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotRooms

/// The codec of the sound.
extension LiveCallCore {
    /// Prefers a codec and a packet length from now on, also for participants who join later. A participant without the codec
    /// keeps its present one. Throws if nobody in the call can use the codec.
    mutating func setCodec(_ codec: Codec?, frameMilliseconds: Double?) throws(CommandRefusal) {
        let others = (roster?.members ?? []).filter { $0.id != memberID }.map(\.id)
        let running = others.filter { links[$0]?.format != nil }
        if let codec, !running.isEmpty, running.allSatisfy({ links[$0]?.missingCodecs.contains(codec) ?? false }) {
            throw .codecUnavailable(codec)
        }
        let packetMilliseconds = Self.packetTime(nearest: frameMilliseconds)
        if (codec, packetMilliseconds) != (next.preferredCodec, next.packetMilliseconds) {
            (next.preferredCodec, next.packetMilliseconds) = (codec, packetMilliseconds)
            notify(.settingChanged(.setCodec(codec, frameMilliseconds: packetMilliseconds), nil))
        }
        for id in others { links[id]?.reportedCodec = nil }
        if !others.isEmpty { act(.room(.renegotiate(others))) }
    }

    private static func packetTime(nearest wanted: Double?) -> Double? {
        guard let wanted, wanted.isFinite else { return nil }
        let possible = max(2.5, min(20, wanted))
        return CallPreferences.opusPacketTimes.min { abs($0 - possible) < abs($1 - possible) }
    }

    /// Reports a new format of a participant, and that the participant cannot use the preferred codec.
    mutating func reportFormat(_ member: Member, since old: CallConfiguration?) {
        guard let link = links[member.id], let format = link.format else { return }
        if link.hasBegun, let old, old.codec != format.codec || old.framesPerPacket != format.framesPerPacket {
            notify(.formatChanged(participant(member), format))
        }
        guard let codec = next.preferredCodec, link.missingCodecs.contains(codec), link.reportedCodec != codec else {
            return
        }
        links[member.id]?.reportedCodec = codec
        notify(.negotiationFailed(participant(member), CommandRefusal.codecUnavailable(codec)))
    }
}
