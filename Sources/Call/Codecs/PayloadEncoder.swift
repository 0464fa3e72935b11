// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// Encodes frames at the stream's rate as payloads. For the media thread.
protocol PayloadEncoder: AnyObject {
    /// The number of frames in a unit of packets.
    var unit: Int { get }
    /// True if packets have the negotiated length; false if they have the length of the captured sound.
    var hasFixedPackets: Bool { get }
    /// True if a payload has the frames of an earlier call.
    var isDelayed: Bool { get }
    /// Returns the number of units in each packet.
    func packets(unitCount: Int) -> PCMPayload.Split
    /// Encodes the units of one packet.
    /// - Returns: the payload, valid until the next call; nil if none is complete yet.
    func encode(_ sound: Channels, offset: Int, unitCount: Int) throws(CodecError) -> UnsafeRawBufferPointer?
    /// Sets the expected packet loss for the codec's own redundancy, in percent.
    func setExpectedLoss(percent: Int)
}

extension PayloadEncoder {
    var hasFixedPackets: Bool { true }
    var isDelayed: Bool { false }
    func packets(unitCount: Int) -> PCMPayload.Split { PCMPayload.Split(each: unitCount) }
    func setExpectedLoss(percent: Int) {}
}
