// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// Turns sound at the stream's rate into payloads. For the media thread.
protocol PayloadEncoder: AnyObject {
    /// Frames that packets consist of.
    var unit: Int { get }
    /// True if a packet is as long as was agreed on; false if it is as long as the sound that was captured.
    var hasFixedPackets: Bool { get }
    /// True if a payload is of the sound of an earlier call.
    var isDelayed: Bool { get }
    /// The units of each packet.
    func packets(unitCount: Int) -> PCMPayload.Split
    /// Encodes the units of one packet.
    /// - Returns: the payload, valid until the next call; nil if none is complete yet.
    func encode(_ sound: Channels, offset: Int, unitCount: Int) throws(CodecError) -> UnsafeRawBufferPointer?
    /// Sets the share of packets whose loss the codec's own redundancy is to help against, in percent.
    func setExpectedLoss(percent: Int)
}

extension PayloadEncoder {
    var hasFixedPackets: Bool { true }
    var isDelayed: Bool { false }
    func packets(unitCount: Int) -> PCMPayload.Split { PCMPayload.Split(each: unitCount) }
    func setExpectedLoss(percent: Int) {}
}
