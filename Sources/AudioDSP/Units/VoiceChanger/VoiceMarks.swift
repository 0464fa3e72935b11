// SPDX-License-Identifier: Apache-2.0

/// A position in voiced sound around which a period is cut out.
struct VoiceMark: BitwiseCopyable {
    /// The position in samples of the tracker's signal.
    var position: Double
    /// The period at the position, in samples.
    var period: Double
    /// The distance from the position to the loudest point of the period, in samples.
    var offset: Double

    @_noLocks
    init(position: Double, period: Double, offset: Double) {
        self.position = position
        self.period = period
        self.offset = offset
    }
}

/// Places marks a period apart in voiced sound (the analysis marks of E. Moulines and F. Charpentier, "Pitch-synchronous waveform
/// processing techniques", Speech Communication 9, 1990).
///
/// The first mark is where a period is loudest, just after the closing of the glottis; each next mark is where the
/// sound is most similar to that around the last mark, so that all marks have the same phase. The position at which periods are
/// cut follows the loudest point slowly.
struct VoiceMarks: ~Copyable {
    /// True while the sound is voiced and marks follow each other.
    private(set) var isOpen = false
    private let marks: UnsafeMutablePointer<VoiceMark>  // a ring of the last marks
    private let capacity = 128
    private var count = 0  // marks since the last reset
    private var runLength = 0  // marks since the voice started
    private let leastLag: Double  // samples
    private let leastSegment: Int  // samples
    private let reach: Int

    /// - Parameters:
    ///   - rate: the signal's rate in hertz.
    ///   - reach: the number of past samples in which marks still matter when a voice starts.
    init(rate: Double, reach: Int) {
        marks = .allocate(capacity: capacity)
        marks.initialize(repeating: VoiceMark(position: 0, period: 1, offset: 0), count: capacity)
        leastSegment = Int(0.003 * rate)
        leastLag = 0.003 * rate
        self.reach = reach
    }

    deinit { marks.deallocate() }

    /// Adds a sample.
    /// - Parameters:
    ///   - now: the sample's number.
    ///   - period: the tracker's period, 0 for unvoiced.
    @_noLocks
    mutating func advance(_ signal: borrowing MirrorRing, now: Int, period: Double) {
        guard period > 0 else {
            isOpen = false
            return
        }
        let half = max(leastSegment, Int(period)) / 2 &+ 1
        let search = Int(period * 0.06) &+ 2
        if !isOpen { begin(signal, now: now, period: period, half: half) }
        guard isOpen else { return }
        var last = marks[(count &- 1) & (capacity &- 1)]
        // If the marks have fallen behind, as after an octave jump of the tracker, they start again.
        if Double(now) - last.position > 4 * Double(reach) {
            isOpen = false
            return
        }
        let expected = Int(last.position + last.offset + period)
        if expected &+ half &+ search &+ 1 > now { return }
        // Short periods are compared over several periods at once, which divides the error of each.
        let back = min(runLength &- 1, Int(leastLag / period))
        let from = marks[(count &- 1 &- back) & (capacity &- 1)].position + last.offset
        let lag = last.position + last.offset - from + period
        let found = bestMatch(signal, to: from, lag: lag, search: search, half: half)
        guard found.similarity > 0.35 else {
            isOpen = false
            return
        }
        last.position = from - last.offset + found.lag
        last.period = period
        let place = last.position + last.offset
        let deviation = Double(loudest(signal, about: place, period: period)) - place
        if deviation.magnitude > 0.1 * period {
            last.offset = max(-0.6 * period, min(0.6 * period, last.offset + (deviation > 0 ? 0.01 : -0.01) * period))
        }
        append(last)
    }

    /// Returns the mark nearest to a position, with period 0 if the sound is not voiced there.
    @_noLocks
    func nearest(to place: Double) -> VoiceMark {
        var best = VoiceMark(position: 0, period: 0, offset: 0)
        var distance = 1e30
        var i = count &- 1
        let end = max(0, count &- capacity)
        while i >= end {
            let m = marks[i & (capacity &- 1)]
            let d = (m.position - place).magnitude
            if d >= distance { break }
            distance = d
            best = m
            i &-= 1
        }
        // After the last mark of a voice that goes on, the nearer mark may not be known yet.
        let limit = isOpen && i == count &- 2 && best.position < place ? 1.1 : 0.75
        if distance > limit * best.period { best.period = 0 }
        return best
    }

    @_noLocks
    mutating func reset() {
        count = 0
        runLength = 0
        isOpen = false
    }

    @_noLocks
    private mutating func append(_ mark: VoiceMark) {
        marks[count & (capacity &- 1)] = mark
        count &+= 1
        runLength &+= 1
    }

    /// Handles the start of voiced sound: places marks back to where they still matter.
    @_noLocks
    private mutating func begin(_ signal: borrowing MirrorRing, now: Int, period: Double, half: Int) {
        let newest = now &- half &- Int(period) / 2 &- 2
        var first = Double(loudest(signal, about: Double(newest), period: period))
        let search = Int(period * 0.06) &+ 2
        let check = bestMatch(signal, to: first, lag: -period, search: search, half: half)
        guard check.similarity > 0.5 else { return }
        let old = count > 0 ? marks[(count &- 1) & (capacity &- 1)].position + 0.6 * period : -1e30
        guard first > old else { return }
        let oldest = max(old, Double(now &- reach))
        var back = 0
        while back < 24 {
            let before = bestMatch(signal, to: first, lag: -period, search: search, half: half)
            guard before.similarity > 0.5, first + before.lag > oldest else { break }
            first += before.lag
            back &+= 1
        }
        runLength = 0
        append(VoiceMark(position: first, period: period, offset: 0))
        while back > 0 {
            let next = bestMatch(signal, to: first, lag: period, search: search, half: half)
            first += next.lag
            append(VoiceMark(position: first, period: period, offset: 0))
            back &-= 1
        }
        isOpen = true
    }

    /// Returns the number of the sample, within half a period of a position, around which the energy is greatest.
    @_noLocks
    private func loudest(_ signal: borrowing MirrorRing, about place: Double, period: Double) -> Int {
        let smoothing = max(1, Int(0.2 * period))
        let from = wholeBelow(place - period / 2)
        let length = Int(period) &+ 1
        let x = signal.samples(from: from &- smoothing, channel: 0)
        var sum: Float = 0
        for i in 0..<(2 &* smoothing) { sum += x[i] * x[i] }
        var greatestEnergy: Float = -1
        var loudestIndex = 0
        for i in 0..<length {
            let entering = x[i &+ 2 &* smoothing]
            sum += entering * entering
            if sum > greatestEnergy {
                greatestEnergy = sum
                loudestIndex = i
            }
            sum -= x[i] * x[i]
        }
        return from &+ loudestIndex
    }

    /// Returns the distance from `place`, near `lag`, at which the sound resembles that around `place` most.
    @_noLocks
    private func bestMatch(_ signal: borrowing MirrorRing, to place: Double, lag: Double, search: Int, half: Int) -> (
        lag: Double, similarity: Float
    ) {
        let length = 2 &* half
        let centre = wholeBelow(place + 0.5)
        let a = signal.samples(from: centre &- half, channel: 0)
        let first = wholeBelow(lag + 0.5) &- search
        let b = signal.samples(from: centre &- half &+ first, channel: 0)
        var previousScore: Float = 0
        var best: Float = -1e30
        var lower: Float = 0
        var upper: Float = 0
        var bestIndex = 0
        let ownEnergy = dotProduct(a, a, length)
        var otherEnergy = dotProduct(b, b, length)
        for k in 0...(2 &* search) {
            // The similarity is relative to the energy at both positions; otherwise the louder one would attract the mark.
            let c = 2 * dotProduct(a, b + k, length) / (ownEnergy + max(0, otherEnergy) + 1e-30)
            otherEnergy += b[k &+ length] * b[k &+ length] - b[k] * b[k]
            if k == bestIndex &+ 1 { upper = c }
            if c > best {
                best = c
                lower = previousScore
                upper = c
                bestIndex = k
            }
            previousScore = c
        }
        var offset = 0.0
        if bestIndex > 0, bestIndex < 2 &* search {
            let bend = Double(lower) - 2 * Double(best) + Double(upper)
            if bend < 0 { offset = 0.5 * (Double(lower) - Double(upper)) / bend }
        }
        return (Double(first &+ bestIndex) + offset, best)
    }
}
