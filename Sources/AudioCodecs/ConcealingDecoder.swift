// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes a stream's packets in order and replaces each packet that cannot be decoded by silence of its length.
///
/// So the output is as long as the stream declares, whatever is damaged. For one thread at a time.
package final class ConcealingDecoder {
    /// The decoded format.
    package var format: AudioFormat { decoder.format }
    /// The maximum number of frames that a packet decodes to, at the rate of ``format``.
    package var maximumFramesPerPacket: Int { decoder.maximumFramesPerPacket }
    /// The packets that could not be decoded completely, and are silence in part or in whole.
    package private(set) var concealedPackets = 0
    /// The frames of silence in place of such packets.
    package private(set) var concealedFrames = 0

    private let decoder: any PacketDecoder
    private let rateRatio: Double

    /// Creates a decoder for packets of this format. `firstPacket` and errors are those of
    /// ``PacketDecoders/make(_:firstPacket:)``.
    package init(_ packets: PacketFormat, firstPacket: [UInt8]? = nil) throws(CodecError) {
        decoder = try PacketDecoders.make(packets, firstPacket: firstPacket)
        rateRatio = decoder.format.sampleRate / packets.format.sampleRate
    }

    /// Converts a number of the stream's frames to frames of ``format``: twice as many if spectral band replication doubles the
    /// rate.
    package func frames(_ streamFrames: Int) -> Int { Int(Double(streamFrames) * rateRatio) }

    /// Decodes one packet.
    /// - Parameters:
    ///   - frameCount: the packet's length as the stream declares it, in frames at the stream's rate.
    ///   - channels: with room for ``maximumFramesPerPacket`` after `offset`.
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

    /// Resets the decoder, as after a seek. The counters keep their values.
    package func reset() { decoder.reset() }
}
