// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotCall

/// An accompaniment on the render threads: who hears it and when, without clicks.
@Suite struct CallAccompanimentTests {
    /// A tone whose clicks are measured.
    private static func tone(_ frame: Int) -> Float {
        sine(frame, frequency: 100, rate: AccompanimentRig.rate, amplitude: 0.2)
    }

    /// Noise, so that sound at another position differs.
    private static func noise(_ frame: Int) -> Float {
        var bits = UInt64(truncatingIfNeeded: frame &+ 1) &* 0x9E37_79B9_7F4A_7C15
        bits ^= bits >> 29
        bits = bits &* 0xBF58_476D_1CE4_E5B9
        return Float(Int64(bitPattern: bits) >> 40) / Float(1 << 23) * 0.1
    }

    private static func difference(_ a: ArraySlice<Float>, _ b: ArraySlice<Float>) -> Float {
        zip(a, b).reduce(a.count == b.count ? 0 : 1) { max($0, abs($1.0 - $1.1)) }
    }

    @Test func `the local participant hears a song, and the others do once it is for all`() {
        let rig = AccompanimentRig()
        rig.sings = Self.noise
        rig.says = { sine($0, frequency: 300, rate: AccompanimentRig.rate, amplitude: 0.1) }
        rig.run(4_800)
        #expect(rig.played.allSatisfy { $0 == 0 }, "a song is paused at first")
        rig.song.isPlaying = true
        rig.song.gain = 0.5
        rig.run(9_600)
        let start = rig.song.clock.frameCount + rig.blockLength - 4_800
        let heard = rig.played.suffix(4_800)
        #expect(Self.difference(heard, ArraySlice((0..<4_800).map { Self.noise(start + $0) * 0.5 })) < 1e-6)
        #expect(Self.difference(rig.sent[...], rig.captured[...]) < 1e-6, "nobody else hears the song")
        rig.song.isForAll = true
        rig.run(9_600)
        #expect(Self.difference(rig.sent.suffix(4_800), rig.captured.suffix(4_800)) > 0.03)
        rig.song.isForAll = false
        rig.run(60_000)
        #expect(Self.difference(rig.sent.suffix(4_800), rig.captured.suffix(4_800)) == 0)
    }

    @Test(arguments: [(64, 512, 700), (64, 100, 33), (256, 301, 217), (1_024, 2_000, 999)])
    func `the song and the voice that was sung to it are sent together, to the frame`(
        blockLength: Int, inputLatency: Int, outputLatency: Int
    ) {
        let rig = AccompanimentRig(
            blockLength: blockLength, inputLatency: inputLatency, outputLatency: outputLatency)
        rig.sings = Self.noise
        rig.echo = 1
        rig.song.isForAll = true
        rig.song.isPlaying = true
        rig.run(24_000)
        let voice = rig.captured.suffix(9_600)
        #expect(Self.difference(rig.sent.suffix(9_600), ArraySlice(voice.map { 2 * $0 })) < 1e-6)
    }

    @Test func `a song is sent a block later if the device's latency is shorter than that`() {
        let rig = AccompanimentRig(blockLength: 256, inputLatency: 40, outputLatency: 60)
        rig.sings = Self.noise
        (rig.song.isForAll, rig.song.isPlaying) = (true, true)
        rig.run(24_000)
        #expect(Self.difference(rig.sent.suffix(9_600), rig.played.dropLast(256).suffix(9_600)) < 1e-6)
    }

    @Test func `a voice path that takes longer delays the sent song as much, by a crossfade`() {
        let rig = AccompanimentRig()
        rig.sings = Self.tone
        rig.song.isForAll = true
        rig.song.isPlaying = true
        rig.run(24_000)
        rig.song.setVoiceLatency(0.03)
        rig.run(24_000)
        rig.song.setVoiceLatency(0.0101)
        rig.run(24_000)
        #expect(AccompanimentRig.click(rig.sent) < -60, "\(AccompanimentRig.click(rig.sent)) dBFS")
        let aligned = AccompanimentRig()
        aligned.sings = Self.noise
        (aligned.echo, aligned.voiceDelay) = (1, 1_440)
        aligned.song.isForAll = true
        aligned.song.isPlaying = true
        aligned.run(9_600)
        aligned.song.setVoiceLatency(0.03)
        aligned.run(24_000)
        let voice = aligned.captured.suffix(9_600)
        #expect(Self.difference(aligned.sent.suffix(9_600), ArraySlice(voice.map { 2 * $0 })) < 1e-6)
    }

    @Test(arguments: [16, 64, 240, 256, 1_024]) func `no change of a song makes a click`(blockLength: Int) {
        let rig = AccompanimentRig(blockLength: blockLength)
        var phase = 0
        rig.sings = { Self.tone($0 + phase) }
        let changes: [() -> Void] = [
            { rig.song.isPlaying = true }, { rig.song.isForAll = true }, { rig.song.gain = 0.3 },
            { rig.song.gain = 1 },
            {
                rig.song.discard()
                phase += 200
            }, { rig.song.isPlaying = false }, { rig.song.isPlaying = true },
            {
                // A second jump before the first one has begun.
                rig.song.discard()
                phase += 120
                rig.feed()
                rig.song.discard()
                phase += 90
            }, { rig.song.isForAll = false }, { rig.song.isForAll = true }, { rig.song.isPlaying = false },
        ]
        for change in changes {
            change()
            rig.run(5_017)
        }
        for samples in [rig.played, rig.sent] {
            #expect(AccompanimentRig.click(samples) < -60, "\(AccompanimentRig.click(samples)) dBFS")
            #expect((samples.map { abs($0) }.max() ?? 0) > 0.19)
        }
        #expect(rig.song.underrunCount == 0)
    }

    @Test func `a jump drops the frames before it, and the next frames follow at once`() {
        let rig = AccompanimentRig()
        rig.sings = Self.noise
        rig.song.isPlaying = true
        rig.run(9_600)
        rig.song.discard()
        let goal = rig.song.writtenCount
        rig.run(4_800)
        #expect(rig.song.clock.frameCount > goal && rig.song.clock.isMoving)
        let start = rig.song.clock.frameCount + rig.blockLength - 960
        #expect(Self.difference(rig.played.suffix(960), ArraySlice((0..<960).map { Self.noise(start + $0) })) < 1e-6)
    }

    @Test(arguments: [64, 256, 1_024])
    func `a song whose frames run out fades, is silent, is counted once, and goes on with the next frame`(
        blockLength: Int
    ) {
        let rig = AccompanimentRig(blockLength: blockLength)
        rig.sings = Self.tone
        rig.song.isPlaying = true
        rig.run(9_600)
        rig.isFed = false
        rig.run(96_000)
        #expect(rig.song.underrunCount == 1 && !rig.song.clock.isMoving)
        #expect(rig.played.suffix(24_000).allSatisfy { $0 == 0 }, "nothing is repeated")
        // Frames for a block and a fade are not enough to begin: they would run out at once.
        rig.write(blockLength + 400)
        rig.run(4_800)
        #expect(rig.song.underrunCount == 1 && rig.played.suffix(4_800).allSatisfy { $0 == 0 })
        rig.isFed = true
        rig.run(24_000)
        #expect(rig.song.underrunCount == 1 && rig.song.clock.isMoving)
        #expect(AccompanimentRig.click(rig.played) < -60, "\(AccompanimentRig.click(rig.played)) dBFS")
    }

    @Test func `frames that run out while a pause fades out are no underrun`() {
        let rig = AccompanimentRig()
        rig.sings = Self.tone
        rig.isFed = false
        rig.write(4_800)
        rig.song.isPlaying = true
        rig.run(4_352)
        // Seven blocks remain: after three of the four of the fade they are fewer than a block and a fade.
        rig.song.isPlaying = false
        rig.run(4_800)
        #expect(rig.song.underrunCount == 0 && rig.song.clock.frameCount == 4_352 + 256)
        #expect(AccompanimentRig.click(rig.played) < -60, "\(AccompanimentRig.click(rig.played)) dBFS")
    }

    @Test func `a song ends with a fade, and its end is no underrun`() {
        let rig = AccompanimentRig()
        rig.sings = Self.tone
        rig.isFed = false
        rig.write(4_000)
        rig.write(3_777)
        rig.song.endSound()
        rig.song.isPlaying = true
        rig.run(9_600)
        #expect(rig.song.clock.frameCount == 7_777 && rig.song.underrunCount == 0)
        #expect(AccompanimentRig.click(rig.played) < -60, "\(AccompanimentRig.click(rig.played)) dBFS")
        #expect((rig.played[7_000..<7_400].map { abs($0) }.max() ?? 0) > 0.15)
        rig.isFed = true
        rig.run(9_600)
        #expect(rig.song.clock.isMoving, "further frames are played")
    }

    @Test func `mute silences the voice and not the song, and a recording of the voice has no song`() {
        let rig = AccompanimentRig()
        rig.sings = Self.noise
        rig.says = { sine($0, frequency: 300, rate: AccompanimentRig.rate, amplitude: 0.1) }
        rig.processor.dryTap.begin()
        (rig.song.isPlaying, rig.song.isForAll) = (true, true)
        rig.run(9_600)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 64)
        var dry: [Float] = []
        while rig.processor.dryTap.read(block.channels) != nil {
            dry += UnsafeBufferPointer(start: block.channels[0], count: 64)
        }
        #expect(dry == rig.captured)
        rig.processor.isMuted = true
        rig.run(9_600)
        let delay = rig.inputLatency + rig.outputLatency
        let song = rig.played.dropLast(delay).suffix(4_800)
        #expect(Self.difference(rig.sent.suffix(4_800), song) < 1e-6)
    }

    @Test func `a song for all does not exceed full scale together with the voice`() {
        let rig = AccompanimentRig()
        rig.sings = { sine($0, frequency: 100, rate: AccompanimentRig.rate, amplitude: 0.9) }
        rig.says = { sine($0, frequency: 100, rate: AccompanimentRig.rate, amplitude: 0.9) }
        (rig.song.isPlaying, rig.song.isForAll) = (true, true)
        rig.run(48_000)
        #expect((rig.sent.map { abs($0) }.max() ?? 2) <= 1)
    }

    @Test(arguments: [64, 256], [64, 300, 1_000, 30_000])
    func `after a gap of the device the sent song begins without a click`(blockLength: Int, gap: Int) {
        let rig = AccompanimentRig(blockLength: blockLength)
        rig.sings = { 0.5 * Self.tone($0) }
        (rig.song.isForAll, rig.song.isPlaying) = (true, true)
        rig.run(24_000)
        let sentCount = rig.sent.count
        rig.skip(gap)
        rig.run(24_000)
        let sent = [Float](repeating: 0, count: 1_000) + rig.sent[sentCount...]
        #expect(AccompanimentRig.click(sent) < -60, "\(AccompanimentRig.click(sent)) dBFS")
        #expect(sent.suffix(4_800).max() ?? 0 > 0.09)
    }

    @Test func `after a gap of the device the song goes on at its position`() {
        let rig = AccompanimentRig()
        rig.sings = Self.tone
        (rig.song.isPlaying, rig.song.isForAll) = (true, true)
        rig.run(9_600)
        let position = rig.song.clock.frameCount
        rig.skip(30_000)
        rig.run(64)
        #expect(rig.song.clock.frameCount == position + 64)
        rig.run(9_600)
        let after = Array(rig.played.suffix(9_664))
        #expect(AccompanimentRig.click([Float](repeating: 0, count: 1_000) + after) < -60)
        #expect((after.map { abs($0) }.max() ?? 0) > 0.19)
        #expect((rig.sent.suffix(4_800).map { abs($0) }.max() ?? 0) > 0.19)
    }
}
