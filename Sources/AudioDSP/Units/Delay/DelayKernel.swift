// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Repeats the sound.
    public static let delay = UnitType(DelayKernel.self)
}

/// Repeats the sound: a delay line with feedback through a one-pole low-pass.
///
/// The time is in whole frames; a change is a crossfade of 20 ms (see ``TapFade``). In ping-pong the two channels of a pair (1
/// and 2, 3 and 4, …) feed each other, with their mean as the input of the first; a last channel without a partner repeats
/// normally. Dry and wet are mixed by cosine and sine, so that their powers add up.
struct DelayKernel: UnitKernel, ~Copyable {
    let latency = 0
    let memory: Int
    private let capacity: Int  // frames of one channel's delay line
    private let lines: UnsafeMutablePointer<Float>  // the channels' delay lines, one after the other
    private let smoothed: UnsafeMutablePointer<Float>  // the state of each channel's low-pass
    private let channelCount: Int
    private let sampleRate: Double
    private var controls: DelayControls
    private var isFresh = true  // no frame was processed since the start or a reset

    init(sampleRate: Double, channelCount: Int) {
        memory = Int(2 * sampleRate) + 1
        capacity = memory + 1
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        lines = .allocate(capacity: channelCount * capacity)
        lines.initialize(repeating: 0, count: channelCount * capacity)
        smoothed = .allocate(capacity: channelCount)
        smoothed.initialize(repeating: 0, count: channelCount)
        controls = DelayControls(fadeLength: Int(0.02 * sampleRate))
    }

    deinit {
        lines.deallocate()
        smoothed.deallocate()
    }

    /// The parameters in the order of the unit's description.
    private enum Parameter: Int { case time, feedback, cutoff, pingPong, mix }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        let frames = min(memory, max(1, Int(earshot_round(Double(values[Parameter.time.rawValue]) * sampleRate))))
        let crossing: Float = values[Parameter.pingPong.rawValue] >= 0.5 ? 1 : 0
        if isFresh {
            controls.time.jump(to: frames)
            controls.crossing.move(to: crossing, over: 0)
        } else {
            controls.time.move(to: frames)
            // Ping-pong is a switch without intermediate values: each change fades for a fixed time.
            if crossing != controls.crossed { controls.crossing.move(to: crossing, over: Int(0.02 * sampleRate)) }
        }
        controls.crossed = crossing
        controls.feedback.move(to: values[Parameter.feedback.rawValue] / 100, over: frameCount)
        controls.smoothing.move(to: smoothing(cutoff: Double(values[Parameter.cutoff.rawValue])), over: frameCount)
        let angle = Double(values[Parameter.mix.rawValue]) / 100 * (Double.pi / 2)
        controls.dry.move(to: values[Parameter.mix.rawValue] >= 100 ? 0 : Float(earshot_cos(angle)), over: frameCount)
        controls.wet.move(to: Float(earshot_sin(angle)), over: frameCount)
    }

    /// Returns the coefficient a of the low-pass y += a (x − y) with −3 dB at a frequency: the root of a² + 2ba − 2b = 0, with b
    /// = 1 − cos ω. From 20 kHz or half the rate on it is 1, which removes the low-pass.
    @_noLocks
    private func smoothing(cutoff: Double) -> Float {
        if cutoff >= 20_000 || cutoff >= sampleRate / 2 { return 1 }
        let b = 1 - earshot_cos(2 * Double.pi * cutoff / sampleRate)
        return Float(earshot_sqrt(b * b + 2 * b) - b)
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        if block.frameCount > 0 { isFresh = false }
        let startControls = controls
        var c = 0
        while c < channelCount {
            controls = startControls
            if c &+ 1 < channelCount { pair(c, block) } else { single(c, block) }
            c &+= 2
        }
    }

    @_noLocks
    private mutating func single(_ channel: Int, _ block: UnitBlock) {
        let from = block.input[channel] + block.offset
        let to = block.output[channel] + block.offset
        let line = lines + channel &* capacity
        var state = smoothed[channel]
        for i in 0..<block.frameCount {
            controls.advance()
            let x = from[i]
            let y = controls.read(line, capacity)
            state += controls.smoothing.value * (y - state)
            line[controls.position] = kept(x + controls.feedback.value * state)
            to[i] = controls.dry.value * x + controls.wet.value * y
            controls.step(capacity)
        }
        smoothed[channel] = state
    }

    @_noLocks
    private mutating func pair(_ channel: Int, _ block: UnitBlock) {
        let fromLeft = block.input[channel] + block.offset
        let fromRight = block.input[channel &+ 1] + block.offset
        let toLeft = block.output[channel] + block.offset
        let toRight = block.output[channel &+ 1] + block.offset
        let left = lines + channel &* capacity
        let right = left + capacity
        var stateLeft = smoothed[channel]
        var stateRight = smoothed[channel &+ 1]
        for i in 0..<block.frameCount {
            controls.advance()
            let l = fromLeft[i]
            let r = fromRight[i]
            let wetLeft = controls.read(left, capacity)
            let wetRight = controls.read(right, capacity)
            stateLeft += controls.smoothing.value * (wetLeft - stateLeft)
            stateRight += controls.smoothing.value * (wetRight - stateRight)
            let p = controls.crossing.value
            let f = controls.feedback.value
            let exchange = p * (stateRight - stateLeft)
            left[controls.position] = kept(l + p * 0.5 * (r - l) + f * (stateLeft + exchange))
            right[controls.position] = kept(r - p * r + f * (stateRight - exchange))
            toLeft[i] = controls.dry.value * l + controls.wet.value * wetLeft
            toRight[i] = controls.dry.value * r + controls.wet.value * wetRight
            controls.step(capacity)
        }
        smoothed[channel] = stateLeft
        smoothed[channel &+ 1] = stateRight
    }

    @_noLocks
    mutating func reset() {
        for c in 0..<channelCount { smoothed[c] = 0 }
        controls.finish()
        isFresh = true
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
