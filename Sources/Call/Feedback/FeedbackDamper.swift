// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The feedback that was damped so far.
package struct FeedbackReport: BitwiseCopyable, Equatable, Sendable {
    /// The number of tones that were damped.
    package var count = 0
    /// The frequency in hertz of the last one.
    package var frequency: Float = 0

    package init() {}
}

/// Damps acoustic feedback in the captured voice before it howls: a loudspeaker in the room plays the voice, and the microphone
/// captures it again, delayed by the network. For the render thread.
///
/// A tone without harmonics that grows by the same factor again and again, or stays near full scale, is suspect. It is tested: the
/// sent voice loses the tone for a quarter of a second. In a loop the captured tone then decays, and stays damped for a minute;
/// a whistle or a flute does not, and is released. Each tone of a loop also lowers the sent voice, because a loop has many tones
/// whose gain is nearly as great. Nothing is changed while nothing is suspect.
struct FeedbackDamper: ~Copyable {
    /// The decibels of a damped tone, and the quality of its band.
    private static let (depth, q): (Float, Float) = (-18, 12)
    /// The decibels by which each damped tone lowers the sent voice, those of a tone near full scale, and the limit of both.
    private static var share: (usual: Float, loud: Float, limit: Float) { @_noLocks get { (2, 6, 12) } }
    /// The decibels by which the test of a tone near full scale lowers the voice.
    private static var loudTest: Float { @_noLocks get { 18 } }
    /// The least level of a tone near full scale in decibels.
    private static var loud: Float { @_noLocks get { -10 } }
    /// The windows of a test. The decay of a loop of more than 0.19 s comes too late, so such a loop is not found.
    private static var testWindows: Int { @_noLocks get { 25 } }
    /// The decibels by which a tone decays in its test if it is of a loop.
    private static var decay: Float { @_noLocks get { 6 } }
    /// The windows for which a tone is damped: a minute.
    private static var heldWindows: Int { @_noLocks get { 6_000 } }
    /// The windows without a release after which ``caution`` is 1 again.
    private static var cautionWindows: Int { @_noLocks get { 1_000 } }
    /// The windows for which a released tone is not tested again, times ``caution``. One near full scale is not tested again at all.
    private static var exemption: Float { @_noLocks get { 100 } }
    private static var slotCount: Int { @_noLocks get { 8 } }
    private static var greatestTestCount: Int { @_noLocks get { 4 } }

    /// A band of the equalizer that damps a tone.
    private struct Slot: BitwiseCopyable {
        enum State { case free, tested, held }
        var state = State.free
        /// In bins of the spectrum.
        var frequency: Float = 0
        /// The window in which the state began.
        var began = 0
        /// The level at the beginning of the test, and the sum of those of its last four windows.
        var level: Float = 0
        var sum: Float = 0
        var isLoud = false
    }

    private(set) var report = FeedbackReport()
    private var tracker: ToneTracker
    private let slots: UnsafeMutablePointer<Slot>
    /// The last samples of the voice, twice one after the other, so that each window is contiguous.
    private let recent: UnsafeMutablePointer<Float>
    private var position = 0
    private var untilWindow: Int
    private var window = 0
    private var lastRelease = Int.min / 2
    /// The factor by which a tone must grow for longer, because others were no feedback.
    private var caution: Float = 1
    private let equalizer: UnitInstance
    private let values: UnsafeMutablePointer<Float>
    private let functions: UnitFunctions
    private let state: UnsafeMutableRawPointer
    /// The factor of the whole voice.
    private var gain: Float = 1
    private var ramp: GainRamp
    /// The frames until the equalizer has no effect any longer.
    private var activeFrames = 0

    init(sampleRate: Double, channelCount: Int) {
        ramp = GainRamp(1, sampleRate: sampleRate, seconds: 0.02)
        tracker = ToneTracker(sampleRate: sampleRate)
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(repeating: Slot(), count: Self.slotCount)
        recent = .allocate(capacity: 2 * tracker.length)
        recent.initialize(repeating: 0, count: 2 * tracker.length)
        untilWindow = tracker.length
        equalizer = UnitType.equalizer.makeUnit(sampleRate: sampleRate, channelCount: channelCount)
        functions = equalizer.functions
        state = equalizer.state
        let defaults = equalizer.description.defaultValues
        values = .allocate(capacity: defaults.count)
        for (index, value) in defaults.enumerated() { (values + index).initialize(to: value) }
        for slot in 0..<Self.slotCount {
            let band = values + slot * EqualizerBandValues.count
            band[EqualizerBandValues.type] = 0  // a peak
            band[EqualizerBandValues.gain] = Self.depth
            band[EqualizerBandValues.q] = Self.q
            band[EqualizerBandValues.isOn] = 0
        }
        equalizer.set((0..<defaults.count).map { values[$0] })
    }

    deinit {
        slots.deallocate()
        recent.deallocate()
        values.deallocate()
    }

    /// Forgets the sound, and damps nothing: another device has other loops.
    @_noLocks
    mutating func restart() {
        tracker.restart()
        for i in 0..<Self.slotCount where slots[i].state != .free { slots[i].state = .free }
        untilWindow = tracker.length
        apply()
    }

    /// Damps feedback in a block of the voice, in place.
    @_noLocks
    mutating func process(_ block: Channels, _ frameCount: Int) {
        guard frameCount > 0 else { return }
        var done = 0
        while done < frameCount {
            let count = min(frameCount &- done, untilWindow)
            listen(block, from: done, count)
            if activeFrames > 0 {
                functions.callProcess(
                    state, UnitBlock(input: block, output: block, offset: done, frameCount: count))
                if !isDamping { activeFrames &-= count }
            }
            done &+= count
            untilWindow &-= count
            guard untilWindow == 0 else { continue }
            untilWindow = tracker.hopLength
            tracker.add(recent + position)
            judge()
        }
        ramp.begin(gain, frameCount)
        if !ramp.isUnity { ramp.scale(block, frameCount) }
    }

    @_noLocks
    private mutating func listen(_ block: Channels, from first: Int, _ count: Int) {
        let share = 1 / Float(block.count)
        for i in first..<first &+ count {
            var sum: Float = 0
            for c in 0..<block.count { sum += block[c][i] }
            recent[position] = sum * share
            recent[position &+ tracker.length] = sum * share
            position = position &+ 1 == tracker.length ? 0 : position &+ 1
        }
    }

    private var isDamping: Bool {
        @_noLocks get {
            for i in 0..<Self.slotCount where slots[i].state != .free { return true }
            return false
        }
    }

    /// Ends tests, releases what is old, and begins tests of what is suspect.
    @_noLocks
    private mutating func judge() {
        window &+= 1
        var isChanged = false
        var testCount = 0
        for i in 0..<Self.slotCount {
            switch slots[i].state {
            case .free: break
            case .tested:
                testCount &+= 1
                if test(i) { isChanged = true }
            case .held where window &- slots[i].began >= Self.heldWindows:
                slots[i].state = .free
                isChanged = true
            case .held: break
            }
        }
        if window &- lastRelease > Self.cautionWindows { caution = 1 }
        for t in 0..<tracker.trackCount where testCount < Self.greatestTestCount {
            guard let isLoud = suspicion(of: t), !isTested(tracker.tracks[t].frequency), let slot = freeSlot() else {
                continue
            }
            slots[slot] = Slot(
                state: .tested, frequency: tracker.tracks[t].frequency, began: window, level: tracker.tracks[t].level,
                isLoud: isLoud)
            testCount &+= 1
            isChanged = true
        }
        if isChanged { apply() }
    }

    /// Continues a test. Returns true if it has ended.
    @_noLocks
    private mutating func test(_ slot: Int) -> Bool {
        let age = window &- slots[slot].began
        if age > Self.testWindows &- 4 { slots[slot].sum += tracker.level(at: slots[slot].frequency) }
        guard age >= Self.testWindows else { return false }
        if slots[slot].level - slots[slot].sum / 4 >= Self.decay {
            slots[slot].state = .held
            slots[slot].began = window
            report.count &+= 1
            report.frequency = slots[slot].frequency * Float(tracker.binWidth)
        } else {
            slots[slot].state = .free
            lastRelease = window
            caution = min(6, caution * 1.5)
            for t in 0..<tracker.trackCount where abs(tracker.tracks[t].frequency - slots[slot].frequency) < 1.5 {
                tracker.tracks[t].exempt(for: slots[slot].isLoud ? .max : Int(Self.exemption * caution))
            }
        }
        return true
    }

    /// Returns true for a suspect tone near full scale, false for one that grows; nil if it is not suspect.
    @_noLocks
    private func suspicion(of index: Int) -> Bool? {
        guard tracker.tracks[index].isTestable else { return nil }
        if tracker.tracks[index].stays(over: Int(30 * caution), above: Self.loud) { return true }
        guard tracker.tracks[index].isWithoutHarmonics else { return nil }
        for windows in 3...5 where tracker.tracks[index].grows(over: Int(Float(1 << windows) * caution)) {
            return false
        }
        return nil
    }

    @_noLocks
    private func isTested(_ frequency: Float) -> Bool {
        for i in 0..<Self.slotCount where slots[i].state == .tested && abs(slots[i].frequency - frequency) < 1.5 {
            return true
        }
        return false
    }

    @_noLocks
    private func freeSlot() -> Int? {
        for i in 0..<Self.slotCount where slots[i].state == .free { return i }
        return nil
    }

    /// Sets the equalizer, whose bands fade in and out in 10 ms, and the gain.
    @_noLocks
    private mutating func apply() {
        var (share, test) = (Float(0), Float(0))
        for i in 0..<Self.slotCount {
            let band = values + i &* EqualizerBandValues.count
            band[EqualizerBandValues.isOn] = slots[i].state == .free ? 0 : 1
            if slots[i].state != .free {
                band[EqualizerBandValues.frequency] = slots[i].frequency * Float(tracker.binWidth)
            }
            if slots[i].state == .held { share += slots[i].isLoud ? Self.share.loud : Self.share.usual }
            if slots[i].state == .tested, slots[i].isLoud { test = Self.loudTest }
        }
        gain = decibelsToGain(-min(share, Self.share.limit) - test)
        functions.callSet(state, values, over: UnitRamp.segment)
        activeFrames = tracker.length
    }
}

/// The indices of a band's parameters in those of the equalizer.
private enum EqualizerBandValues {
    static var count: Int { @_noLocks get { 5 } }
    static var type: Int { @_noLocks get { 0 } }
    static var frequency: Int { @_noLocks get { 1 } }
    static var gain: Int { @_noLocks get { 2 } }
    static var q: Int { @_noLocks get { 3 } }
    static var isOn: Int { @_noLocks get { 4 } }
}
