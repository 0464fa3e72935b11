// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes a stream's packets in order, and replaces one that cannot be decoded by silence of its length.
///
/// So what comes out is as long as the stream says, whatever is damaged. For one thread at a time.
package final class ConcealingDecoder {
    /// The decoded format.
    package var format: AudioFormat { decoder.format }
    /// Frames that one packet gives at most, at the rate of ``format``.
    package var maximumFramesPerPacket: Int { decoder.maximumFramesPerPacket }
    /// Packets that were silence in part or wholly, as they could not be decoded.
    package private(set) var concealedPackets = 0
    /// Frames of that silence.
    package private(set) var concealedFrames = 0

    private let decoder: any PacketDecoder
    private let ratio: Double

    /// A decoder of packets of this format; throws and takes a first packet as ``PacketDecoders/make(_:firstPacket:)``.
    package init(_ packets: PacketFormat, firstPacket: [UInt8]? = nil) throws(CodecError) {
        decoder = try PacketDecoders.make(packets, firstPacket: firstPacket)
        ratio = decoder.format.sampleRate / packets.format.sampleRate
    }

    /// Returns the frames of ``format`` for a count of the stream's frames: twice as many if spectral band replication doubles the
    /// rate.
    package func frames(_ streamFrames: Int) -> Int { Int(Double(streamFrames) * ratio) }

    /// Decodes one packet.
    /// - Parameters:
    ///   - frameCount: what the stream says that it lasts, at the stream's rate.
    ///   - channels: room for ``maximumFramesPerPacket`` behind `offset`.
    /// - Returns: ``frames(_:)`` of `frameCount`, or ``maximumFramesPerPacket`` if that is less.
    package func decode(
        _ packet: UnsafeRawBufferPointer, frameCount: Int, into channels: Channels, offset: Int = 0
    ) -> Int {
        let wanted = min(max(0, frames(frameCount)), maximumFramesPerPacket)
        let given = min(wanted, (try? decoder.decode(packet, into: channels, offset: offset)) ?? 0)
        guard given < wanted else { return wanted }
        for c in 0..<min(format.channelCount, channels.count) {
            clearSamples(channels[c] + offset + given, wanted - given)
        }
        concealedPackets += 1
        concealedFrames += wanted - given
        return wanted
    }

    /// Resets the decoder's state, as after a seek; counters stay.
    package func reset() { decoder.reset() }
}
