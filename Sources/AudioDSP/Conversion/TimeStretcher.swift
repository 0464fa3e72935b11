// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Changes the speed of sound without changing its pitch.
///
/// WSOLA (W. Verhelst and M. Roelands, "An overlap-add technique based on waveform similarity", 1993): pieces of the input are
/// joined by crossfades, each taken near its due position from where it best continues the sound before. At a ``speed`` of 1 that
/// is the next frame, so the output equals the input exactly, and a change of speed is a joint like any other: nothing clicks.
/// Positions are exact to the frame.
///
/// Input is written into the stretcher's memory: fill ``input`` from ``inputOffset``, at most ``inputRoom`` frames, then call
/// ``append(_:)``; ``finish()`` after the last. For one thread at a time; allocates only at initialization. Stereo at 48 kHz
/// costs 0.2 % of a core.
public final class TimeStretcher {
    /// The range of ``speed``.
    public static let speeds: ClosedRange<Double> = 0.25...4

    /// The input frames for each output frame, ¼ to 4. A change applies from the next piece on, within 30 ms.
    public var speed = 1.0 {
        didSet { speed = min(Self.speeds.upperBound, max(Self.speeds.lowerBound, speed.isFinite ? speed : oldValue)) }
    }
    /// The input buffer.
    public let input: Channels
    /// The first free frame of ``input``.
    public private(set) var inputOffset = 0

    private let memory: AudioBuffer
    private let mono: UnsafeMutablePointer<Float>  // the average of all channels, frame for frame as `input`
    private let capacity: Int
    private let piece: Int
    private let overlap: Int
    private let search: Int
    /// The number of the input frame at 0 in `input`, from the first ever appended.
    private var base = 0
    /// The due position of the next piece, and the position that continues the last one, both as input frame numbers.
    private var due = 0.0
    private var next = 0
    private var end: Int?
    // The present piece: its first frame `start`, and `given` of its `length` frames that were read.
    private var start = 0
    private var before = 0
    private var given = 0
    private var length = 0
    private var pieceSpeed = 1.0
    private var pieceDue = 0.0

    /// - Parameters:
    ///   - sampleRate: in hertz.
    ///   - channelCount: the channels, which are stretched together.
    public init(sampleRate: Double, channelCount: Int) {
        piece = max(64, Int(sampleRate * 0.03))
        overlap = max(16, Int(sampleRate * 0.01)) / 8 * 8
        search = max(16, Int(sampleRate * 0.0125))
        capacity = 10 * piece + 6 * search + 4_096
        memory = AudioBuffer(channelCount: channelCount, frameCapacity: capacity)
        input = memory.channels
        mono = .allocate(capacity: capacity)
        mono.initialize(repeating: 0, count: capacity)
    }

    deinit { mono.deallocate() }

    /// The frames that can be written at ``inputOffset``.
    public var inputRoom: Int { capacity - inputOffset }

    /// The input frame that the next output frame plays, from the first one appended since the last reset.
    public var position: Double {
        given < length ? pieceDue + Double(given) * pieceSpeed : due
    }

    /// Adds the frames written at ``inputOffset``.
    /// - Precondition: at most ``inputRoom``, and not after ``finish()``.
    public func append(_ frameCount: Int) {
        precondition(frameCount <= inputRoom && end == nil)
        let share = 1 / Float(input.count)
        for i in inputOffset..<inputOffset + frameCount {
            var sum: Float = 0
            for c in 0..<input.count { sum += input[c][i] }
            mono[i] = sum * share
        }
        inputOffset += frameCount
    }

    /// Ends the input, so that all remaining frames can be read.
    public func finish() { if end == nil { end = base + inputOffset } }

    /// Discards all input.
    public func reset() {
        (inputOffset, base, due, next, end) = (0, 0, 0, 0, nil)
        (start, before, given, length) = (0, 0, 0, 0)
    }

    /// Reads output.
    /// - Returns: fewer frames than requested if more input is needed or all was read.
    public func read(_ output: Channels, frameCount: Int, offset: Int = 0) -> Int {
        var done = 0
        while done < frameCount {
            if given == length, !beginPiece() { break }
            let count = min(frameCount - done, length - given)
            copy(output, offset + done, count)
            given += count
            done += count
        }
        return done
    }

    /// Chooses the next piece. Returns false if there is too little input for it.
    private func beginPiece() -> Bool {
        let target = Int(due.rounded())
        let isPlain = speed == 1 || due == 0
        let have = base + inputOffset
        // The piece's duration counts too: it must not extend beyond an end that is not known yet.
        let reach = Int((due + Double(piece) * speed).rounded(.up))
        let last = max(reach, isPlain ? next + piece : max(target + search, next) + piece + overlap)
        if let end {
            guard due < Double(end) else { return false }
            if last > have { pad(last - have) }
        } else if last > have {
            return false
        }
        length = piece
        if let end { length = min(piece, Int(((Double(end) - due) / speed).rounded(.up))) }
        start = isPlain ? next : bestStart(near: target)
        before = next
        given = 0
        pieceSpeed = speed
        if speed == 1 { due = Double(start) }
        pieceDue = due
        due += Double(length) * speed
        next = start + length
        discard()
        return true
    }

    /// Adds silence after the end.
    private func pad(_ frameCount: Int) {
        let count = min(frameCount, inputRoom)
        for c in 0..<input.count { clearSamples(input[c] + inputOffset, count) }
        clearSamples(mono + inputOffset, count)
        inputOffset += count
    }

    /// Returns the frame near `target` from which the input is most similar to the continuation of the last piece: the greatest
    /// normalized correlation.
    private func bestStart(near target: Int) -> Int {
        let template = UnsafePointer(mono + (next - base))
        // Near the end only earlier pieces are available.
        let latest = min(target + search, min(end ?? .max, base + inputOffset - overlap) - length)
        let first = max(base, min(target - search, latest - search))
        let count = latest - first
        guard count > 0 else { return first }
        // Keep the due position unless another is better. In silence no position is.
        var best = max(first, min(first + count, target))
        let there = UnsafePointer(mono + (best - base))
        var bestScore =
            Self.product(template, there, overlap) / max(energyOfSamples(there, overlap), 1e-9).squareRoot()
        var energy = energyOfSamples(mono + (first - base), overlap)
        for k in 0...count {
            let at = UnsafePointer(mono + (first - base + k))
            let score = Self.product(template, at, overlap) / max(energy, 1e-9).squareRoot()
            if score > bestScore {
                bestScore = score
                best = first + k
            }
            // Updated by differences, and recomputed now and then because rounding errors accumulate.
            energy += at[overlap] * at[overlap] - at[0] * at[0]
            if k % 64 == 63 { energy = energyOfSamples(at + 1, overlap) }
        }
        return best
    }

    private static func product(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int) -> Float {
        var s0 = SIMD8<Float>(repeating: 0)
        var s1 = s0
        var i = 0
        while i &+ 16 <= count {
            s0 += load8(a + i) * load8(b + i)
            s1 += load8(a + i + 8) * load8(b + i + 8)
            i &+= 16
        }
        if i < count { s0 += load8(a + i) * load8(b + i) }
        return (s0 + s1).sum()
    }

    @inline(__always)
    private static func load8(_ p: UnsafePointer<Float>) -> SIMD8<Float> {
        UnsafeRawPointer(p).loadUnaligned(as: SIMD8<Float>.self)
    }

    private func copy(_ output: Channels, _ offset: Int, _ count: Int) {
        let from = start - base + given
        for c in 0..<input.count { copySamples(output[c] + offset, input[c] + from, count) }
        guard before != start, given < overlap else { return }
        let old = before - base
        let share = 1 / Float(overlap)
        for c in 0..<input.count {
            for i in 0..<min(count, overlap - given) {
                let new = (Float(given + i) + 0.5) * share
                let was = input[c][old + given + i]
                output[c][offset + i] = was + (output[c][offset + i] - was) * new
            }
        }
    }

    /// Discards input that no later piece needs.
    private func discard() {
        let keep = max(0, min(min(start, before), min(next, Int(due) - 2 * search - piece)) - base)
        guard keep >= piece else { return }
        for c in 0..<input.count { moveSamples(input[c], input[c] + keep, inputOffset - keep) }
        moveSamples(mono, mono + keep, inputOffset - keep)
        base += keep
        inputOffset -= keep
    }
}
