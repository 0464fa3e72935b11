// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Eight bands, each of any shape in R. Bristow-Johnson's Audio EQ Cookbook, such as a peak or a shelf.
    public static let equalizer = UnitType(EqualizerKernel.self)
}

/// Eight second-order sections in series (see ``SectionDesign``) in double precision, two channels at once.
///
/// Frequency, gain and Q ramp over the requested frames; a change of the type, or switching on or off, fades over 10 ms. Bands
/// without an effect are skipped.
struct EqualizerKernel: UnitKernel, ~Copyable {
    static let bandCount = 8
    /// The number of a band's parameters, those of ``EqualizerBand/Parameter``.
    private static var parametersPerBand: Int { @_noLocks get { 5 } }
    /// The index of the overall gain among the parameters' values, after the bands' parameters.
    private static var globalGain: Int { @_noLocks get { 8 &* parametersPerBand } }
    /// The number of sections: one for each band, and one that passes everything, to complete a group of four if three are left.
    private static var slots: Int { @_noLocks get { 9 } }
    /// The maximum frames rendered together.
    private static var chunk: Int { @_noLocks get { 64 } }
    /// The frames between searches for decayed states.
    private static var sweep: Int { @_noLocks get { 4_096 } }

    let latency = 0
    let memory: Int
    private let sampleRate: Double
    private let pairCount: Int
    private let fade: Int  // frames
    private let bands: UnsafeMutablePointer<EqualizerBand>
    private let coefficients: UnsafeMutablePointer<SectionCoefficients>
    /// The states of each pair of channels, one for each slot.
    private let states: UnsafeMutablePointer<SectionState>
    /// The indices of the bands with an effect, in ascending order; ``activeCount`` of them are valid.
    private let active: UnsafeMutablePointer<Int>
    private let frames: UnsafeMutablePointer<SIMD2<Double>>  // a piece of two channels
    private var activeCount = 0
    private var isMoving = false
    private var untilSweep = 4_096  // frames
    private var factor = LinearRamp(1)  // the overall gain

    init(sampleRate: Double, channelCount: Int) {
        self.sampleRate = sampleRate
        pairCount = (channelCount + 1) / 2
        // A section that rings is never silent for longer than a period of the lowest frequency.
        memory = Int(sampleRate / 20) + Self.sweep
        fade = Int(sampleRate / 100)
        bands = .allocate(capacity: Self.bandCount)
        bands.initialize(repeating: EqualizerBand(), count: Self.bandCount)
        coefficients = .allocate(capacity: Self.slots)
        coefficients.initialize(repeating: SectionCoefficients(SectionDesign()), count: Self.slots)
        states = .allocate(capacity: pairCount * Self.slots)
        states.initialize(repeating: SectionState(), count: pairCount * Self.slots)
        active = .allocate(capacity: Self.bandCount)
        active.initialize(repeating: 0, count: Self.bandCount)
        frames = .allocate(capacity: Self.chunk)
        frames.initialize(repeating: SIMD2(0, 0), count: Self.chunk)
    }

    deinit {
        bands.deallocate()
        coefficients.deallocate()
        states.deallocate()
        active.deallocate()
        frames.deallocate()
    }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        var isChanged = false
        for b in 0..<8 {
            if bands[b].set(values + b &* Self.parametersPerBand, over: frameCount, fade: fade, sampleRate: sampleRate)
            {
                coefficients[b] = SectionCoefficients(bands[b].now)
                isChanged = true
            }
        }
        if isChanged { choose() }
        factor.move(to: decibelsToGain(values[Self.globalGain]), over: frameCount)
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        var at = 0
        while at < block.frameCount {
            var count = min(block.frameCount &- at, Self.chunk)
            if isMoving {
                advance()
                count = 1
            }
            count = min(count, untilSweep)
            render(block, block.offset &+ at, count)
            at &+= count
            untilSweep &-= count
            if untilSweep == 0 { forgetSilence() }
        }
    }

    @_noLocks
    mutating func reset() {
        for b in 0..<8 {
            bands[b].finish()
            coefficients[b] = SectionCoefficients(bands[b].now)
        }
        choose()
        for s in 0..<pairCount &* Self.slots { states[s] = SectionState() }
        untilSweep = Self.sweep
        factor.finish()
    }

    /// Advances every changing band by a frame.
    @_noLocks
    private mutating func advance() {
        var hasArrived = false
        for b in 0..<8 where bands[b].isMoving {
            bands[b].advance()
            coefficients[b] = SectionCoefficients(bands[b].now)
            if !bands[b].isMoving { hasArrived = true }
        }
        if hasArrived { choose() }
    }

    /// Lists the bands with an effect in ``active``; clears the states of the other bands.
    @_noLocks
    private mutating func choose() {
        activeCount = 0
        isMoving = false
        for b in 0..<8 {
            let moves = bands[b].isMoving
            if moves { isMoving = true }
            if moves || !bands[b].now.isIdentity {
                active[activeCount] = b
                activeCount &+= 1
            } else {
                for p in 0..<pairCount { states[p &* Self.slots &+ b] = SectionState() }
            }
        }
    }

    /// Clears states that have decayed to 200 dB below full scale.
    @_noLocks
    private mutating func forgetSilence() {
        untilSweep = Self.sweep
        for s in 0..<pairCount &* Self.slots where states[s].isSilent { states[s] = SectionState() }
    }

    @_noLocks
    private mutating func render(_ block: UnitBlock, _ offset: Int, _ count: Int) {
        let startFactor = factor
        for p in 0..<pairCount {
            let left = 2 &* p
            // The last of an odd number of channels is processed twice and written once.
            let right = left &+ 1 < block.input.count ? left &+ 1 : left
            let (l, r) = (block.input[left] + offset, block.input[right] + offset)
            for i in 0..<count { frames[i] = SIMD2(Double(l[i]), Double(r[i])) }
            filter(SectionCascade(coefficients, states + p &* Self.slots), count)
            if startFactor.remaining > 0 || startFactor.value != 1 {
                factor = startFactor
                amplify(count)
            }
            let to = block.output[left] + offset
            if right == left {
                for i in 0..<count { to[i] = Float(frames[i][0]) }
            } else {
                write(to, block.output[right] + offset, count)
            }
        }
    }

    @_noLocks
    private func write(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, _ count: Int) {
        var i = 0
        while i &+ 2 <= count {
            let two = earshot_narrow2(frames[i], frames[i &+ 1])
            left[i] = two[0]
            left[i &+ 1] = two[1]
            right[i] = two[2]
            right[i &+ 1] = two[3]
            i &+= 2
        }
        if i < count {
            left[i] = Float(frames[i][0])
            right[i] = Float(frames[i][1])
        }
    }

    @_noLocks
    private func filter(_ cascade: SectionCascade, _ count: Int) {
        var k = 0
        while k &+ 4 <= activeCount {
            cascade.four(active[k], active[k &+ 1], active[k &+ 2], active[k &+ 3], frames, count)
            k &+= 4
        }
        switch activeCount &- k {
        case 1: cascade.one(active[k], frames, count)
        case 2: cascade.two(active[k], active[k &+ 1], frames, count)
        case 3: cascade.four(active[k], active[k &+ 1], active[k &+ 2], 8, frames, count)
        default: break
        }
    }

    @_noLocks
    private mutating func amplify(_ count: Int) {
        let rampCount = min(factor.remaining, count)
        for i in 0..<rampCount {
            let gain = Double(factor.next())
            frames[i] = frames[i] * SIMD2(gain, gain)
        }
        let finalGain = Double(factor.value)
        for i in rampCount..<count { frames[i] = frames[i] * SIMD2(finalGain, finalGain) }
    }

    static var functions: UnitFunctions {
        UnitFunctions(
            set: { $0.assumingMemoryBound(to: Self.self).pointee.set($1, over: $2) },
            process: { state, block in
                state.assumingMemoryBound(to: Self.self).pointee.process(
                    block.assumingMemoryBound(to: UnitBlock.self).pointee)
            },
            reset: { $0.assumingMemoryBound(to: Self.self).pointee.reset() })
    }
}
