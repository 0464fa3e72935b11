// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// Encodes a stream's frames to payloads of packets. For the media thread.
protocol PayloadEncoder: AnyObject {
    /// The frames of a unit: each packet has a whole number of units.
    var unit: Int { get }
    /// True if packets have the negotiated length; false if they have the length of the captured sound.
    var hasFixedPackets: Bool { get }
    /// True if ``encode(_:offset:unitCount:)`` returns the payload for the frames of an earlier call.
    var isDelayed: Bool { get }
    /// Divides `unitCount` units into packets: returns a range of units for each.
    func packets(unitCount: Int) -> PCMPayload.Split
    /// Encodes the units of one packet.
    /// - Returns: the payload, valid until the next call; nil if none is complete yet.
    func encode(_ sound: Channels, offset: Int, unitCount: Int) throws(CodecError) -> UnsafeRawBufferPointer?
    /// Sets the expected packet loss for the codec's own redundancy, in percent.
    func setExpectedLoss(percent: Int)
    /// Sets whether the next packets are independent of earlier ones, so that any state of the decoder will do.
    func setIndependent(_ isIndependent: Bool)
    /// Forgets the earlier frames.
    /// - Returns: the payload that a delayed encoder still holds, valid until the next call; nil if there is none.
    @discardableResult func reset() throws(CodecError) -> UnsafeRawBufferPointer?
}

extension PayloadEncoder {
    var hasFixedPackets: Bool { true }
    var isDelayed: Bool { false }
    func packets(unitCount: Int) -> PCMPayload.Split { PCMPayload.Split(each: unitCount) }
    func setExpectedLoss(percent: Int) {}
    func setIndependent(_ isIndependent: Bool) {}
    func reset() -> UnsafeRawBufferPointer? { nil }
}
