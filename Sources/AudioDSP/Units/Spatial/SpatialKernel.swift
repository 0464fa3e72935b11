// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Places one source around a listener: a mono input (more channels are averaged), two ears or two loudspeakers as the
    /// output.
    public static let spatializer = UnitType(SpatialKernel.self)
}

/// Places one source around a listener, as the 3D mixer does for each input.
///
/// The head is a rigid sphere with ears at its sides (``SphericalHead``): levels and times differ between the ears accordingly,
/// the same in front, behind, above and below. Elevation matters only by the angle to the ears. Sound takes no time from the
/// source to the head, so only the distance between the ears causes a Doppler effect.
///
/// A change takes 29 ms (``SpatialPath``) for any requested number of frames except 0: near the head a short distance is a great
/// change, and a ramp of 32 frames would click.
struct SpatialKernel: UnitKernel, ~Copyable {
    /// The maximum frames rendered at once.
    static var piece: Int { @_noLocks get { 64 } }
    static var unit: UnitDescription {
        UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: "spatializer", manufacturer: "earshot"),
            name: "Spatializer",
            summary: "Places the sound around a listener with headphones, or between two loudspeakers.",
            parameters: SpatialTarget.parameters)
    }
    let latency: Int
    let memory: Int
    private let head: SphericalHead
    private let table: SincTable
    private var left: SpatialEar
    private var right: SpatialEar
    private let line: UnsafeMutablePointer<Float>  // the source's past frames, then a piece
    private let lineLength: Int
    private var gain = LinearRamp(0)
    private var path = SpatialPath()
    /// The frames of a step of the path.
    private let stepLength: Int
    private var remaining = 0  // frames of the present step
    private let step: Float  // 1 / `stepLength`
    private var oldSpan = 4  // the taps in use, of both ears
    private var newSpan = 4

    init(sampleRate: Double, channelCount: Int) {
        head = SphericalHead(sampleRate: sampleRate)
        table = SincTable()
        stepLength = Int(sampleRate / 1_500)
        step = 1 / Float(stepLength)
        // A source straight ahead is delayed by whole frames: enough for interpolation, and for the nearer ear to be early.
        latency = SincTable.half + Int(-head.delay(angle: 0)) + 1
        // The farther ear's longest delay, and 8 frames before it for the interpolation.
        lineLength = latency + Int(head.delay(angle: .pi)) + 2 + SincTable.half
        memory = lineLength + head.tapCount
        line = .allocate(capacity: lineLength + Self.piece)
        line.initialize(repeating: 0, count: lineLength + Self.piece)
        left = SpatialEar(tapCount: head.tapCount)
        right = SpatialEar(tapCount: head.tapCount)
    }

    deinit {
        left.free()
        right.free()
        head.free()
        table.free()
        path.free()
        line.deallocate()
    }

    static func outputChannelCount(of inputChannelCount: Int) -> Int { 2 }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        let wanted = SpatialTarget(values)
        if frameCount <= 0 {
            jump(to: wanted)
        } else if !wanted.isSame(as: path.target) {
            path.turn(to: wanted)
        }
    }

    @_noLocks
    private mutating func jump(to target: SpatialTarget) {
        path.jump(to: target)
        remaining = 0
        move(to: target, over: 0)
    }

    @_noLocks
    private mutating func move(to place: SpatialTarget, over frameCount: Int) {
        oldSpan = newSpan
        newSpan = place.panned == 1 ? 4 : head.tapCount
        gain.move(to: Float(place.gain), over: frameCount)
        right.aim(at: place, side: place.side, head: head, latency: latency)
        left.aim(at: place, side: -place.side, head: head, latency: latency)
        remaining = frameCount
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        var at = 0
        while at < block.frameCount {
            if remaining == 0, path.isMoving { move(to: path.next(), over: stepLength) }
            var count = block.frameCount &- at
            if count > Self.piece { count = Self.piece }
            if remaining > 0, count > remaining { count = remaining }
            gather(block, at, count)
            let span = remaining > 0 && oldSpan > newSpan ? oldSpan : newSpan
            let present = line + lineLength
            left.process(
                present, to: block.output[0] + (block.offset &+ at), table: table, span: span, remaining: remaining,
                step: step, frameCount: count)
            right.process(
                present, to: block.output[1] + (block.offset &+ at), table: table, span: span, remaining: remaining,
                step: step, frameCount: count)
            earshot_move(line, line + count, lineLength &* MemoryLayout<Float>.stride)
            if remaining > 0 { remaining &-= count }
            at &+= count
        }
    }

    /// Writes the mean of the input's channels, attenuated by distance, to the end of the line.
    @_noLocks
    private mutating func gather(_ block: UnitBlock, _ at: Int, _ count: Int) {
        let to = line + lineLength
        let first = block.input[0] + (block.offset &+ at)
        for i in 0..<count { to[i] = first[i] }
        for c in 1..<max(1, block.input.count) {
            let from = block.input[c] + (block.offset &+ at)
            for i in 0..<count { to[i] += from[i] }
        }
        let share = 1 / Float(block.input.count)
        if gain.remaining == 0 {
            let factor = gain.value * share
            for i in 0..<count { to[i] *= factor }
        } else {
            for i in 0..<count { to[i] *= gain.next() * share }
        }
    }

    @_noLocks
    mutating func reset() {
        jump(to: path.target)
        left.reset()
        right.reset()
        earshot_zero(line, lineLength &* MemoryLayout<Float>.stride)
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
