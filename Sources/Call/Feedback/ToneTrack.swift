// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A spectral peak that keeps its frequency, with its levels of the last windows.
struct ToneTrack: BitwiseCopyable {
    /// The levels that are kept.
    static var capacity: Int { @_noLocks get { 256 } }
    /// A track continues over this many windows without its peak.
    private static var greatestMissCount: Int { @_noLocks get { 2 } }
    /// The bits of ``isAlone`` that are counted, and the least number of them that are set in a tone without harmonics.
    private static var aloneBits: (mask: UInt64, least: Int) { @_noLocks get { (0xFF, 5) } }

    /// In bins of the spectrum.
    private(set) var frequency: Float
    private(set) var count = 0
    private var missed = 0
    /// The windows for which the tone is not tested again, because a test showed that it is no feedback.
    private var exempt = 0
    /// A bit for each window, the newest first: 1 if no harmonic was strong.
    private var isAlone: UInt64 = 0
    /// The decibels of the windows, in a ring.
    private let levels: UnsafeMutablePointer<Float>

    @_noLocks
    init(levels: UnsafeMutablePointer<Float>, frequency: Float) {
        self.levels = levels
        self.frequency = frequency
    }

    /// The memory of the levels, for the next track.
    var memory: UnsafeMutablePointer<Float> { @_noLocks get { levels } }
    var isOver: Bool { @_noLocks get { missed > Self.greatestMissCount } }
    /// True if the peak is in the last window, and may be tested.
    var isTestable: Bool { @_noLocks get { missed == 0 && exempt == 0 } }
    /// True if most of the last windows had no harmonic of the tone, nor a tone of which it is one.
    var isWithoutHarmonics: Bool {
        @_noLocks get { (isAlone & Self.aloneBits.mask).nonzeroBitCount >= Self.aloneBits.least }
    }
    /// In decibels; 0 is a sine with the amplitude 1.
    var level: Float { @_noLocks get { self[0] } }

    /// Adds a window with the peak.
    @_noLocks
    mutating func add(_ peak: SpectralPeak) {
        frequency += 0.2 * (peak.frequency - frequency)
        missed = 0
        append(peak.level)
        isAlone = isAlone << 1 | (peak.isAlone ? 1 : 0)
    }

    /// Prevents a test in the next windows.
    @_noLocks
    mutating func exempt(for windows: Int) { exempt = windows }

    /// Adds a window without the peak.
    @_noLocks
    mutating func addMiss() {
        missed &+= 1
        append(count > 0 ? self[0] : SpectralPeak.silence)
    }

    @_noLocks
    private mutating func append(_ level: Float) {
        exempt = max(0, exempt &- 1)
        levels[count % Self.capacity] = level
        count &+= 1
    }

    /// The level of the window `age` windows ago.
    private subscript(age: Int) -> Float { @_noLocks get { levels[(count &- 1 &- age) % Self.capacity] } }

    /// Returns true if the level has risen by at least 3 dB in the last windows, along a straight line: feedback grows by the
    /// same factor each time around, while a note's attack slows down.
    @_noLocks
    func grows(over windows: Int) -> Bool {
        guard count > windows else { return false }
        let (number, last) = (Float(windows &+ 1), Float(windows))
        var (sum, product, greatest) = (Float(0), Float(0), self[0])
        for age in 0...windows {
            sum += self[age]
            product += self[age] * (last / 2 - Float(age))
            greatest = max(greatest, self[age])
        }
        let slope = product * 12 / (last * number * (number + 1))  // decibels in a window
        let growth = slope * last
        guard growth >= 3, self[0] >= greatest - 0.5 else { return false }
        var square: Float = 0
        for age in 0...windows {
            let rest = self[age] - sum / number - slope * (last / 2 - Float(age))
            square += rest * rest
        }
        let tolerance = max(0.4, 0.12 * growth)
        return square <= tolerance * tolerance * number
    }

    /// Returns true if the level was above `floor` and changed by less than 1 dB in the last windows.
    @_noLocks
    func stays(over windows: Int, above floor: Float) -> Bool {
        guard count >= windows else { return false }
        var (least, greatest) = (self[0], self[0])
        for age in 1..<windows { (least, greatest) = (min(least, self[age]), max(greatest, self[age])) }
        return least > floor && greatest - least < 1
    }
}

/// A peak in the spectrum of a window.
struct SpectralPeak: BitwiseCopyable {
    static var silence: Float { @_noLocks get { -140 } }

    /// In bins of the spectrum.
    var frequency: Float
    /// In decibels.
    var level: Float
    /// True if the peak has no strong harmonic, and is no harmonic of a strong tone.
    var isAlone: Bool

    @_noLocks
    init(frequency: Float, level: Float, isAlone: Bool) {
        self.frequency = frequency
        self.level = level
        self.isAlone = isAlone
    }
}
