// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// The render thread's side of a ``ParameterStore``: each parameter's present value and target.
struct ParameterRamps: ~Copyable {
    private struct Ramp: BitwiseCopyable {
        var start: Float
        var target: Float
        var length: Int
        var done: Int
    }

    private let store: ParameterStore
    private let targets: UnsafeMutablePointer<Atomic<UInt32>>
    private let version: UnsafeMutablePointer<Atomic<Int>>
    private let events: MessageQueue<ParameterStore.Event>.Reader
    private let count: Int
    private let sampleRate: Double
    private let engineRate: Double
    private var seenVersion: Int
    /// The ``ParameterStore/changeCount`` when the changes were last read.
    private var seenChangeCount = Int.min
    private let ramps: UnsafeMutablePointer<Ramp>
    private let knownTargets: UnsafeMutablePointer<UInt32>  // targets as they were last read
    private let continuous: UnsafeMutablePointer<Bool>
    private let logarithmic: UnsafeMutablePointer<Bool>  // in decibels
    private let stamps: UnsafeMutablePointer<Atomic<Int>>
    private let waiting: UnsafeMutablePointer<ParameterStore.Event>  // pending events, the soonest last
    private let waitingCountStorage: UnsafeMutablePointer<Int>
    private let waitingCapacity: Int
    private var waitingCount: Int {
        @_noLocks get { waitingCountStorage.pointee }
        @_noLocks nonmutating set { waitingCountStorage.pointee = newValue }
    }
    /// True if events may be pending; while false the store's memory is not read.
    private var mayWait = true
    /// The values at the end of the present segment, to which the unit's kernel ramps.
    let values: UnsafeMutablePointer<Float>
    /// The frames left of the present segment; 0 without a ramp.
    private(set) var segmentLeft = 0
    /// The number of parameters that are ramping.
    private var rampingCount = 0
    private var isFresh = true
    /// True if values have changed since the unit's kernel got them.
    private var isStale = false

    /// - Parameters:
    ///   - sampleRate: the node's rate in hertz.
    ///   - engineRate: the engine's rate in hertz.
    init(_ store: ParameterStore, sampleRate: Double, engineRate: Double) {
        self.store = store
        targets = store.targets
        version = store.version
        events = store.events.reader
        count = store.parameters.count
        self.sampleRate = sampleRate
        self.engineRate = engineRate
        seenVersion = store.version.pointee.load(ordering: .acquiring)
        let room = max(1, count)
        ramps = .allocate(capacity: room)
        knownTargets = .allocate(capacity: room)
        continuous = .allocate(capacity: room)
        logarithmic = .allocate(capacity: room)
        values = .allocate(capacity: room)
        values.initialize(repeating: 0, count: room)
        stamps = store.stamps
        waiting = store.waiting
        waitingCountStorage = store.waitingCount
        waitingCapacity = store.waitingCapacity
        for i in 0..<count {
            let bits = store.targets[i].load(ordering: .relaxed)
            let value = Float(bitPattern: bits)
            (ramps + i).initialize(to: Ramp(start: value, target: value, length: 0, done: 0))
            (knownTargets + i).initialize(to: bits)
            (continuous + i).initialize(to: store.parameters[i].unit.isContinuous)
            (logarithmic + i).initialize(to: store.parameters[i].unit == .decibels)
            values[i] = value
        }
    }

    deinit {
        ramps.deallocate()
        knownTargets.deallocate()
        continuous.deallocate()
        logarithmic.deallocate()
        values.deallocate()
    }

    /// Applies the parameter changes since the last block.
    /// - Parameter changeCount: ``ParameterStore/changeCount`` at the start of the cycle. If it has not changed, no memory of
    ///   another thread is read, which would be most of the cost in a large graph.
    @_noLocks @inline(__always)
    mutating func takeChanges(_ changeCount: Int) {
        if changeCount != seenChangeCount { readChanges(changeCount) }
    }

    @_noLocks
    private mutating func readChanges(_ changeCount: Int) {
        let version = version.pointee.load(ordering: .acquiring)
        if version != seenVersion {
            seenVersion = version
            for i in 0..<count {
                let bits = targets[i].load(ordering: .relaxed)
                if bits != knownTargets[i] {
                    knownTargets[i] = bits
                    begin(i, Float(bitPattern: bits), defaultRampSeconds(i, Float(bitPattern: bits)))
                }
            }
        }
        while waitingCount < waitingCapacity, let event = events.pop() {
            // A value that was set after the event was scheduled wins over an event for now.
            if event.time == .min, stamps[event.index].load(ordering: .relaxed) > event.version { continue }
            insert(event)
        }
        if waitingCount < waitingCapacity { seenChangeCount = changeCount }
        mayWait = waitingCount > 0
    }

    /// Begins the events that are due at `time`, and the next segment if the last has ended.
    /// - Returns: the frames in which the unit's kernel must ramp to ``values``, 0 for at once; −1 if nothing changes.
    @_noLocks
    mutating func advance(at time: Int64) -> Int {
        while mayWait, waitingCount > 0, soonest <= time {
            waitingCount &-= 1
            let event = waiting[waitingCount]
            begin(event.index, event.value, event.rampSeconds)
            // The event's value becomes the present one, unless a thread set another value meanwhile, which the next update
            // reads.
            let bits = event.value.bitPattern
            let exchange = targets[event.index].compareExchange(
                expected: knownTargets[event.index], desired: bits, ordering: .relaxed)
            if exchange.exchanged { knownTargets[event.index] = bits }
        }
        guard isStale || (segmentLeft == 0 && rampingCount > 0) else { return -1 }
        isStale = false
        return nextSegment()
    }

    /// Returns the frames that may be rendered before ``advance(at:)`` must be called again.
    @_noLocks
    func limit(_ frameCount: Int, at time: Int64) -> Int {
        var limit = frameCount
        if segmentLeft > 0, segmentLeft < limit { limit = segmentLeft }
        if mayWait, waitingCount > 0 {
            let until = soonest &- time
            if until < Int64(limit) { limit = until < 1 ? 1 : Int(until) }
        }
        return limit
    }

    /// Counts rendered frames of the present segment.
    @_noLocks
    mutating func rendered(_ frameCount: Int) {
        isFresh = false
        if segmentLeft > 0 { segmentLeft &-= frameCount }
    }

    /// Returns true if no parameter ramps, and no event is due before `time`.
    @_noLocks
    func isAtRest(until time: Int64) -> Bool {
        rampingCount == 0 && segmentLeft == 0 && !isStale && (!mayWait || waitingCount == 0 || soonest >= time)
    }

    /// The start of the next pending event, in frames at the node's rate; `Int64.min` for now.
    private var soonest: Int64 {
        @_noLocks get {
            let time = waiting[waitingCount &- 1].time
            return time == .min || sampleRate == engineRate ? time : Int64(Double(time) * sampleRate / engineRate)
        }
    }

    /// Returns the length in seconds of a change whose ramp is not given: 20 ms. A large change in decibels takes longer, because
    /// closing a fader within 20 ms is audible.
    @_noLocks
    private func defaultRampSeconds(_ index: Int, _ target: Float) -> Float {
        guard logarithmic[index] else { return 0.02 }
        let difference = target > values[index] ? target - values[index] : values[index] - target
        return difference > 24 ? difference / 1_200 : 0.02
    }

    @_noLocks
    private mutating func begin(_ index: Int, _ target: Float, _ seconds: Float) {
        if ramps[index].length > 0 { rampingCount &-= 1 }
        let length = isFresh || !continuous[index] ? 0 : Int(Double(seconds) * sampleRate)
        ramps[index] = Ramp(start: values[index], target: target, length: length, done: 0)
        if length == 0 { values[index] = target } else { rampingCount &+= 1 }
        isStale = true
    }

    @_noLocks
    private mutating func nextSegment() -> Int {
        var length = UnitRamp.segment
        for i in 0..<count where ramps[i].length > 0 {
            let remaining = ramps[i].length &- ramps[i].done
            if remaining < length { length = remaining }
        }
        for i in 0..<count where ramps[i].length > 0 {
            ramps[i].done &+= length
            if ramps[i].done >= ramps[i].length {
                values[i] = ramps[i].target
                ramps[i].length = 0
                rampingCount &-= 1
            } else {
                let linear = Float(ramps[i].done) / Float(ramps[i].length)
                let smooth = linear * linear * linear * (linear * (6 * linear - 15) + 10)  // no bend at either end
                values[i] = ramps[i].start + (ramps[i].target - ramps[i].start) * smooth
            }
        }
        if isFresh { return 0 }
        segmentLeft = length
        return length
    }

    /// Inserts an event in order of time; events of the same time keep their order.
    @_noLocks
    private mutating func insert(_ event: ParameterStore.Event) {
        var position = waitingCount
        while position > 0, waiting[position &- 1].time <= event.time {
            waiting[position] = waiting[position &- 1]
            position &-= 1
        }
        waiting[position] = event
        waitingCount &+= 1
    }
}
