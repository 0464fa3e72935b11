// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import Testing

@testable import EarshotPlayout

struct PlayoutConfigurationTests {
    private func configuration(
        _ coding: RenderCodec, rate: Double = 48_000, frames: Int, channels: Int = 1, hasReserve: Bool = false
    ) -> PlayoutConfiguration {
        PlayoutConfiguration(
            coding: coding, streamRate: rate, deviceRate: 48_000, channelCount: channels, framesPerPacket: frames,
            fallback: hasReserve ? .opus : nil)
    }

    @Test func `the queue holds packets of 750 ms, or of two seconds for a recorder`() {
        // PCM may arrive in blocks of only 64 frames, whatever was negotiated.
        #expect(configuration(.pcm, frames: 64).packetCapacity == 562)
        #expect(configuration(.pcm, frames: 480).packetCapacity == 562)
        #expect(configuration(.opusCustom, frames: 480).packetCapacity == 562)
        #expect(configuration(.pcm, frames: 32).packetCapacity == 1_125)
        #expect(configuration(.opus, frames: 120).packetCapacity == 300)
        #expect(configuration(.opus, frames: 120).forRecording().packetCapacity == 800)
        #expect(configuration(.pcm, frames: 64).forRecording().packetCapacity == 1_500)
    }

    @Test func `the queue holds at least 256 packets and at most 2,048`() {
        #expect(configuration(.opus, frames: 480).packetCapacity == 256)
        #expect(configuration(.decoded, frames: 1_024).packetCapacity == 256)
        #expect(configuration(.pcm, frames: 16).packetCapacity == 2_048)
        #expect(configuration(.pcm, frames: 0).packetCapacity == 2_048)
        #expect(configuration(.pcm, rate: 96_000, frames: 64).forRecording().packetCapacity == 2_048)
    }

    @Test func `a slot has room for the largest payload of its codec`() {
        #expect(configuration(.pcm, frames: 64).payloadCapacity >= 1_200)
        #expect(configuration(.opusCustom, frames: 64).payloadCapacity >= 1_200)
        #expect(configuration(.opus, frames: 960).payloadCapacity >= 1_275)
        #expect(configuration(.decoded, frames: 1_024, channels: 2).payloadCapacity == 8_192)
    }

    @Test func `Opus is a fallback codec only for PCM at 48 kHz`() {
        #expect(configuration(.pcm, frames: 480, hasReserve: true).fallback == .opus)
        #expect(configuration(.pcm, frames: 480).fallback == nil)
        #expect(configuration(.pcm, rate: 44_100, frames: 480, hasReserve: true).fallback == nil)
        #expect(configuration(.opus, frames: 480, hasReserve: true).fallback == nil)
    }

    @Test func `a recording has a depth of half a second, or of a millisecond to a second`() {
        let ears = configuration(.pcm, frames: 64)
        #expect(ears.fixedDepth == 0 && !ears.isPulledLater)
        let recording = ears.forRecording()
        #expect(recording.fixedDepth == 0.5 && recording.isPulledLater && recording.latencyProfile == .listen)
        #expect(ears.forRecording(depth: 0).fixedDepth == 0.001)
        #expect(ears.forRecording(depth: 0.2).fixedDepth == 0.2)
        #expect(ears.forRecording(depth: 2).fixedDepth == 1)
    }
}
