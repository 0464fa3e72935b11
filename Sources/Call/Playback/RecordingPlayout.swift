// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotPlayout

/// A second playout of one remote peer's packets, with its own delay. Any thread creates it; from ``MediaCore/listen(_:to:)`` on
/// it belongs to the media thread, except ``playout``.
package final class RecordingPlayout: @unchecked Sendable {  // handed over, not shared
    /// The playout, for the pulling thread.
    package let playout: Playout
    private var aac: AACReceiver?

    /// - Parameter depth: the seconds by which the playout lags behind the earliest packet.
    package init(_ configuration: CallConfiguration, depth: Double) throws(CodecError) {
        playout = try Playout(configuration.playout.forRecording(depth: depth))
        // An AAC frame waits half of `depth` for an earlier frame; the other half remains for the frames that follow.
        aac =
            configuration.codec.traits.isDecodedAhead
            ? try AACReceiver(
                audioSpecificConfig: configuration.remoteAudioSpecificConfig,
                channelCount: configuration.channelCount, holdTime: depth / 2)
            : nil
    }

    /// The queue for packets that playout decodes; nil for AAC, which is decoded before playout.
    var packets: PacketQueue? { aac == nil ? playout.packets : nil }

    func receive(_ unit: UnsafeRawBufferPointer, position: Int, at now: HostTime) {
        aac?.receive(unit, position: position, at: now, into: playout.packets)
    }

    func tick(at now: HostTime) { aac?.tick(at: now, into: playout.packets) }

    func restart() { aac?.restart() }

    var deadline: HostTime? { aac?.deadline }
}

extension MediaPeer {
    /// Sets a second playout of the same packets; nil for none. A retransmission is requested if it can be in time for one of the
    /// two playouts.
    func listen(_ listener: RecordingPlayout?) {
        guard let packets else { return }
        second = listener
        packets.second = listener?.packets
    }
}
