// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Changes the speed of sound without changing its pitch.
///
/// WSOLA (W. Verhelst and M. Roelands, "An overlap-add technique based on waveform similarity", 1993): pieces of the input are
/// joined by crossfades. Each piece begins near its due position, at the frame that best continues the sound before. At a
/// ``speed`` of 1 this is the next frame, so the output equals the input exactly. A change of speed is a joint like any other, so
/// nothing clicks. Positions are exact to the frame.
///
/// Input is written into the stretcher's memory: fill ``input`` from ``inputOffset``, at most ``inputRoom`` frames, then call
/// ``append(_:)``; ``finish()`` after the last. For one thread at a time; allocates only at initialization. Stereo at 48 kHz
/// costs 0.2 % of a core.
public final class TimeStretcher {
    /// The range of ``speed``.
    public static let speeds: ClosedRange<Double> = 0.25...4

    /// The input frames for each output frame, clamped to ¼…4. A change applies from the next piece on, within 30 ms.
    public var speed = 1.0 {
        didSet { speed = min(Self.speeds.upperBound, max(Self.speeds.lowerBound, speed.isFinite ? speed : oldValue)) }
    }
    /// The buffer into which input is written.
    public let input: Channels
    /// The first free frame of ``input``.
    public private(set) var inputOffset = 0

    private let memory: AudioBuffer
    private let mono: UnsafeMutablePointer<Float>  // the mean of all channels of `input`, frame by frame
    private let capacity: Int  // frames
    private let piece: Int  // frames of a piece, except the last one
    private let overlap: Int  // frames of a crossfade
    private let searchReach: Int  // frames on each side of the due position
    /// The number of the input frame at index 0 of `input`, counted from the first frame appended since the last reset.
    private var base = 0
    /// The position at which the next piece is due, and the position `next` that continues the last piece, both as input frame
    /// numbers.
    private var due = 0.0
    private var next = 0
    private var end: Int?  // the number of the frame after the last input frame; nil until ``finish()``
    // The present piece: its first input frame `start`, the input frame `fadeOutStart` from which the last piece fades out, and
    // its `length` in frames, of which `readCount` have been read.
    private var start = 0
    private var fadeOutStart = 0
    private var readCount = 0
    private var length = 0
    private var pieceSpeed = 1.0
    private var pieceDue = 0.0

    /// - Parameters:
    ///   - sampleRate: in hertz.
    ///   - channelCount: the channels, which are stretched together.
    public init(sampleRate: Double, channelCount: Int) {
        piece = max(64, Int(sampleRate * 0.03))
        overlap = max(16, Int(sampleRate * 0.01)) / 8 * 8
        searchReach = max(16, Int(sampleRate * 0.0125))
        capacity = 10 * piece + 6 * searchReach + 4_096
        memory = AudioBuffer(channelCount: channelCount, frameCapacity: capacity)
        input = memory.channels
        mono = .allocate(capacity: capacity)
        mono.initialize(repeating: 0, count: capacity)
    }

    deinit { mono.deallocate() }

    /// The frames that can be written at ``inputOffset``.
    public var inputRoom: Int { capacity - inputOffset }

    /// The number of the input frame that the next output frame plays, counted from the first one appended since the last reset.
    public var position: Double {
        readCount < length ? pieceDue + Double(readCount) * pieceSpeed : due
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
        (start, fadeOutStart, readCount, length) = (0, 0, 0, 0)
    }

    /// Reads a block of output.
    /// - Returns: the number of frames read; less than `frameCount` if more input is needed or all was read.
    public func read(_ output: Channels, frameCount: Int, offset: Int = 0) -> Int {
        var done = 0
        while done < frameCount {
            if readCount == length, !beginPiece() { break }
            let count = min(frameCount - done, length - readCount)
            copy(output, offset + done, count)
            readCount += count
            done += count
        }
        return done
    }

    /// Chooses the next piece. Returns false if more input is needed, or if all input was played.
    private func beginPiece() -> Bool {
        let target = Int(due.rounded())
        let continues = speed == 1 || due == 0
        let appendedEnd = base + inputOffset
        // Input for the piece's whole duration must be there, or the piece could extend beyond an end that is not known yet.
        let durationEnd = Int((due + Double(piece) * speed).rounded(.up))
        let neededEnd = max(durationEnd, continues ? next + piece : max(target + searchReach, next) + piece + overlap)
        if let end {
            guard due < Double(end) else { return false }
            if neededEnd > appendedEnd { pad(neededEnd - appendedEnd) }
        } else if neededEnd > appendedEnd {
            return false
        }
        length = piece
        if let end { length = min(piece, Int(((Double(end) - due) / speed).rounded(.up))) }
        start = continues ? next : bestStart(near: target)
        fadeOutStart = next
        readCount = 0
        pieceSpeed = speed
        if speed == 1 { due = Double(start) }
        pieceDue = due
        due += Double(length) * speed
        next = start + length
        discard()
        return true
    }

    /// Adds silence after the end of the input, as far as there is room.
    private func pad(_ frameCount: Int) {
        let count = min(frameCount, inputRoom)
        for c in 0..<input.count { clearSamples(input[c] + inputOffset, count) }
        clearSamples(mono + inputOffset, count)
        inputOffset += count
    }

    /// Returns the frame near `target` from which the input is most similar to the continuation of the last piece, by normalized
    /// correlation.
    private func bestStart(near target: Int) -> Int {
        let template = UnsafePointer(mono + (next - base))
        // Near the end of the input only earlier positions have enough input after them.
        let latest = min(target + searchReach, min(end ?? .max, base + inputOffset - overlap) - length)
        let first = max(base, min(target - searchReach, latest - searchReach))
        let count = latest - first
        guard count > 0 else { return first }
        // Keep the due position unless another is better; in silence none is better.
        var best = max(first, min(first + count, target))
        let dueSamples = UnsafePointer(mono + (best - base))
        var bestScore =
            Self.product(template, dueSamples, overlap) / max(energyOfSamples(dueSamples, overlap), 1e-9).squareRoot()
        var energy = energyOfSamples(mono + (first - base), overlap)
        for k in 0...count {
            let candidate = UnsafePointer(mono + (first - base + k))
            let score = Self.product(template, candidate, overlap) / max(energy, 1e-9).squareRoot()
            if score > bestScore {
                bestScore = score
                best = first + k
            }
            // The energy is updated by differences, and recomputed now and then because rounding errors accumulate.
            energy += candidate[overlap] * candidate[overlap] - candidate[0] * candidate[0]
            if k % 64 == 63 { energy = energyOfSamples(candidate + 1, overlap) }
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
        let from = start - base + readCount
        for c in 0..<input.count { copySamples(output[c] + offset, input[c] + from, count) }
        guard fadeOutStart != start, readCount < overlap else { return }
        let oldOffset = fadeOutStart - base
        let share = 1 / Float(overlap)
        for c in 0..<input.count {
            for i in 0..<min(count, overlap - readCount) {
                let newWeight = (Float(readCount + i) + 0.5) * share
                let oldSample = input[c][oldOffset + readCount + i]
                output[c][offset + i] = oldSample + (output[c][offset + i] - oldSample) * newWeight
            }
        }
    }

    /// Discards input that no later piece needs.
    private func discard() {
        let discardCount = max(0, min(min(start, fadeOutStart), min(next, Int(due) - 2 * searchReach - piece)) - base)
        guard discardCount >= piece else { return }
        for c in 0..<input.count { moveSamples(input[c], input[c] + discardCount, inputOffset - discardCount) }
        moveSamples(mono, mono + discardCount, inputOffset - discardCount)
        base += discardCount
        inputOffset -= discardCount
    }
}
