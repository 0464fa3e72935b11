// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

/// Planes of noise that differ a little.
private func noise(_ channels: Int, _ frames: Int, seed: UInt32 = 1) -> AudioBuffer {
    let buffer = AudioBuffer(channelCount: channels, frameCapacity: max(1, frames))
    var state = seed
    for c in 0..<channels {
        for i in 0..<frames {
            state = state &* 1_664_525 &+ 1_013_904_223
            buffer.channels[c][i] = Float(Int32(bitPattern: state)) / 2_147_483_648
        }
    }
    return buffer
}

private func samples(_ buffer: AudioBuffer) -> [Float] { (0..<buffer.frameCapacity).map { buffer.channels[0][$0] } }

@Suite struct MixingTests {
    @Test(arguments: [0, 1, 3, 4, 31, 32, 33, 64, 100, 1_000], [0, 1, 3, 4, 5, 32])
    func `a mix sums its inputs in order`(frames: Int, inputCount: Int) {
        let (inputs, to) = (noise(max(1, inputCount), frames + 7), noise(1, frames + 7, seed: 5))
        let before = samples(to)
        let gains = (0..<inputCount).map { 0.1 * Float($0 + 1) }
        mixSamples(to.channels[0], inputs.channels.pointers, gains + [0], inputCount: inputCount, offset: 3, frames)
        for i in 0..<frames {
            var expected = before[i]
            for k in 0..<inputCount { expected += inputs.channels[k][i + 3] * gains[k] }
            #expect(to.channels[0][i] == expected)
        }
        #expect(samples(to).suffix(7) == before.suffix(7))
    }

    @Test(arguments: [0, 1, 5, 64, 129])
    func `samples are scaled and added`(frames: Int) {
        let (from, to) = (noise(1, frames + 1), noise(1, frames + 1, seed: 9))
        let (x, before) = (samples(from), samples(to))
        addSamples(to.channels[0], from.channels[0], frames, gain: 0.3)
        #expect(samples(to) == (0...frames).map { $0 < frames ? before[$0] + x[$0] * 0.3 : before[$0] })
        scaleSamples(to.channels[0], from.channels[0], frames, gain: -2)
        #expect(samples(to).prefix(frames).elementsEqual(x.prefix(frames).map { $0 * -2 }))
        scaleSamples(from.channels[0], from.channels[0], frames, gain: 0.5)
        #expect(samples(from) == (0...frames).map { $0 < frames ? x[$0] * 0.5 : x[$0] })
    }

    @Test(arguments: [1, 3, 16, 17, 32])
    func `a ramp is the same for any block size`(block: Int) {
        let frames = 96
        let from = noise(1, frames)
        let (whole, pieces, mixed) = (noise(1, frames), noise(1, frames), noise(1, frames, seed: 3))
        let before = samples(mixed)
        scaleSamples(whole.channels[0], from.channels[0], frames, gain: 0.25, step: 0.01)
        for at in stride(from: 0, to: frames, by: block) {
            let count = min(block, frames - at)
            scaleSamples(
                pieces.channels[0] + at, from.channels[0] + at, count, gain: 0.25, step: 0.01, past: at)
            addSamples(mixed.channels[0] + at, from.channels[0] + at, count, gain: 0.25, step: 0.01, past: at)
        }
        #expect(samples(pieces) == samples(whole))
        let gains = (0..<frames).map { 0.25 + Float($0 + 1) * 0.01 }
        #expect(samples(whole) == zip(samples(from), gains).map { $0 * $1 })
        #expect(samples(mixed) == (0..<frames).map { before[$0] + from.channels[0][$0] * gains[$0] })
    }

    @Test(arguments: [0, 1, 3, 4, 7, 8, 15, 100, 1_003])
    func `peak and energy match a plain computation`(frames: Int) {
        let from = noise(1, frames)
        let x = samples(from).prefix(frames)
        #expect(peakOfSamples(from.channels[0], frames) == (x.map(abs).max() ?? 0))
        let energy = x.reduce(0.0) { $0 + Double($1) * Double($1) }
        #expect(abs(Double(energyOfSamples(from.channels[0], frames)) - energy) <= 1e-5 * energy)
    }

    @Test func `a peak of either sign is found at every position`() {
        for place in 0..<13 {
            for sign: Float in [-1, 1] {
                let from = AudioBuffer(channelCount: 1, frameCapacity: 13)
                from.channels[0][place] = 0.7 * sign
                #expect(peakOfSamples(from.channels[0], 13) == 0.7)
                let both = peakAndEnergyOfSamples(from.channels[0], 13)
                #expect(both.peak == 0.7, "place \(place)")
                #expect(both.energy == Float(0.7) * 0.7, "place \(place)")
            }
        }
    }

    @Test(arguments: [0, 1, 3, 4, 7, 8, 15, 100, 1_003])
    func `the combined peak and energy match the separate measurements`(frames: Int) {
        for seed in 1...20 as ClosedRange<UInt32> {
            let from = noise(1, frames, seed: seed)
            let both = peakAndEnergyOfSamples(from.channels[0], frames)
            #expect(both.peak == peakOfSamples(from.channels[0], frames))
            #expect(both.energy == energyOfSamples(from.channels[0], frames))
        }
    }

    /// The sum of large samples overflows, so that each sample is checked; for small ones the sum is enough.
    @Test(arguments: [3e38, 0.5] as [Float])
    func `huge samples count as finite, and a non-finite sample is found at every position`(greatest: Float) {
        let from = AudioBuffer(channelCount: 2, frameCapacity: 37)
        for c in 0..<2 { for i in 0..<37 { from.channels[c][i] = i % 2 == 0 ? greatest : greatest / 3 } }
        #expect(areSamplesFinite(from.channels, 37))
        for wrong in [Float.nan, .infinity, -.infinity] {
            for place in 0..<37 {
                let kept = from.channels[1][place]
                from.channels[1][place] = wrong
                #expect(!areSamplesFinite(from.channels, 37))
                from.channels[1][place] = kept
            }
        }
    }

    /// Tests every position within the pieces of vector code, and the frames after them.
    @Test func `a single sample is added, scaled and mixed at its own position`() {
        let frames = 75
        for place in 0..<frames {
            let from = AudioBuffer(channelCount: 1, frameCapacity: frames)
            from.channels[0][place] = 0.5
            let (added, scaled, mixed) = (noise(1, frames), noise(1, frames), noise(1, frames))
            let (ramped, faded) = (noise(1, frames), noise(1, frames))
            let before = samples(added)
            addSamples(added.channels[0], from.channels[0], frames, gain: 3)
            scaleSamples(scaled.channels[0], from.channels[0], frames, gain: 3)
            mixSamples(mixed.channels[0], from.channels.pointers, [3], inputCount: 1, frames)
            addSamples(ramped.channels[0], from.channels[0], frames, gain: 2, step: 0.25, past: 10)
            scaleSamples(faded.channels[0], from.channels[0], frames, gain: 2, step: 0.25, past: 10)
            let gain = 2 + Float(10 + place + 1) * 0.25
            for i in 0..<frames {
                let isPlace = i == place
                #expect(added.channels[0][i] == before[i] + (isPlace ? 1.5 : 0))
                #expect(mixed.channels[0][i] == added.channels[0][i])
                #expect(scaled.channels[0][i] == (isPlace ? 1.5 : 0))
                #expect(ramped.channels[0][i] == before[i] + (isPlace ? 0.5 * gain : 0))
                #expect(faded.channels[0][i] == (isPlace ? 0.5 * gain : 0))
            }
        }
    }

    @Test(arguments: 0...40) func `exactly the requested number of samples is written`(count: Int) {
        let from = noise(3, 48, seed: 2)
        for step: Float? in [nil, 0.5] {
            let (added, scaled, mixed) = (noise(1, 48), noise(1, 48), noise(1, 48))
            let before = samples(added)
            if let step {
                addSamples(added.channels[0], from.channels[0], count, gain: 2, step: step)
                scaleSamples(scaled.channels[0], from.channels[0], count, gain: 2, step: step)
            } else {
                addSamples(added.channels[0], from.channels[0], count, gain: 2)
                scaleSamples(scaled.channels[0], from.channels[0], count, gain: 2)
            }
            mixSamples(mixed.channels[0], from.channels.pointers, [1, 2, 3], inputCount: 3, count)
            for buffer in [added, scaled, mixed] {
                let after = samples(buffer)
                #expect(after[count...] == before[count...])
                #expect((0..<count).allSatisfy { after[$0] != before[$0] })
            }
        }
    }

    @Test(arguments: [5, 8, 13, 21]) func `energy counts every sample of the block and none beyond it`(frames: Int) {
        for place in 0..<frames {
            let from = AudioBuffer(channelCount: 1, frameCapacity: frames + 8)
            for i in frames..<frames + 8 { from.channels[0][i] = 9 }
            from.channels[0][place] = -0.5
            #expect(energyOfSamples(from.channels[0], frames) == 0.25, "place \(place)")
            #expect(peakAndEnergyOfSamples(from.channels[0], frames) == (0.5, 0.25), "place \(place)")
            #expect(peakOfSamples(from.channels[0], frames) == 0.5, "place \(place)")
        }
    }

    @Test(arguments: [0, 1], [15, 16, 17, 37])
    func `a non-finite sample is found in every channel, but not beyond the block`(
        channel: Int, frames: Int
    ) {
        for wrong in [Float.nan, .infinity, -.infinity] {
            for place in 0..<frames {
                let from = noise(2, frames + 1)
                from.channels[channel][frames] = wrong
                #expect(areSamplesFinite(from.channels, frames))
                from.channels[channel][place] = wrong
                #expect(!areSamplesFinite(from.channels, frames), "place \(place)")
            }
        }
        // Two infinities of opposite sign still do not cancel.
        let from = noise(2, frames)
        from.channels[0][3] = .infinity
        from.channels[channel][7] = -.infinity
        #expect(!areSamplesFinite(from.channels, frames))
    }
}
