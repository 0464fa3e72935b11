// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// Parameters between the threads that set them and the one that renders.
///
/// A value set for now is a latest value: an atomic each, and a version that says that one has changed. A value set for later, or
/// with a ramp, is a message.
final class ParameterStore: @unchecked Sendable {  // atomics, and a queue whose writers take `written`'s lock
    struct Event: BitwiseCopyable, Sendable {
        var index: Int
        var value: Float
        var rampSeconds: Float
        /// The engine's frame counter, or `Int64.min` for at once.
        var time: Int64
        /// The store's version when the event was scheduled.
        var version: Int
    }

    let parameters: [UnitParameter]
    /// Values for now; the render side puts those for later here when their time has come.
    let targets: UnsafeMutablePointer<Atomic<UInt32>>
    let version: UnsafeMutablePointer<Atomic<Int>>
    /// The version by which each value was last set for now.
    let stamps: UnsafeMutablePointer<Atomic<Int>>
    /// Events that wait on the render side, the soonest last, and how many. Here, as they outlive a node's state.
    let waiting: UnsafeMutablePointer<Event>
    let waitingCount: UnsafeMutablePointer<Int>
    let waitingCapacity = 256
    /// Counts what was set in any store: while it stands still, no store need be looked at.
    nonisolated(unsafe) static let changeCount: UnsafeMutablePointer<Atomic<Int>> = {
        let changeCount = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
        changeCount.initialize(to: Atomic(0))
        return changeCount
    }()
    let events = MessageQueue<Event>(capacity: 256)
    private let written: LockedValue<[Float]>

    init(_ parameters: [UnitParameter]) {
        self.parameters = parameters
        written = LockedValue(parameters.map(\.defaultValue))
        targets = .allocate(capacity: max(1, parameters.count))
        for (i, parameter) in parameters.enumerated() {
            (targets + i).initialize(to: Atomic(parameter.defaultValue.bitPattern))
        }
        version = .allocate(capacity: 1)
        version.initialize(to: Atomic(0))
        stamps = .allocate(capacity: max(1, parameters.count))
        for i in parameters.indices { (stamps + i).initialize(to: Atomic(0)) }
        waiting = .allocate(capacity: waitingCapacity)
        waitingCount = .allocate(capacity: 1)
        waitingCount.initialize(to: 0)
    }

    deinit {
        targets.deinitialize(count: parameters.count)
        targets.deallocate()
        version.deinitialize(count: 1)
        version.deallocate()
        stamps.deinitialize(count: parameters.count)
        stamps.deallocate()
        waiting.deallocate()
        waitingCount.deallocate()
    }

    var values: [Float] { written.withLock { $0 } }

    /// Sets a parameter for now. Values beyond the range are brought into it; those that are not numbers are not taken.
    func set(_ index: Int, to value: Float) { set([index: value]) }

    /// Sets several at the same block.
    func set(_ values: [Int: Float]) {
        written.withLock { written in
            let next = version.pointee.load(ordering: .relaxed) + 1
            for (index, value) in values where value.isFinite {
                written[index] = clamped(value, index)
                targets[index].store(written[index].bitPattern, ordering: .relaxed)
                stamps[index].store(next, ordering: .relaxed)
            }
            version.pointee.store(next, ordering: .releasing)
            // By the type's name: `Self` looks into the object, which the thread sanitizer takes for a race.
            ParameterStore.changeCount.pointee.add(1, ordering: .releasing)
        }
    }

    /// Schedules a change of a parameter. Returns false if the queue of changes is full.
    func schedule(_ index: Int, to value: Float, rampSeconds: Double, at time: Int64) -> Bool {
        guard value.isFinite else { return true }
        return written.withLock { written in
            let value = clamped(value, index)
            let event = Event(
                index: index, value: value, rampSeconds: Float(max(0, min(ParameterStore.longestRamp, rampSeconds))),
                time: boundedSampleTime(time), version: version.pointee.load(ordering: .relaxed))
            guard events.writer.push(event) else { return false }
            ParameterStore.changeCount.pointee.add(1, ordering: .releasing)
            written[index] = value
            return true
        }
    }

    /// Seconds; a week.
    private static let longestRamp = 604_800.0

    private func clamped(_ value: Float, _ index: Int) -> Float {
        let range = parameters[index].range
        return max(range.lowerBound, min(range.upperBound, value))
    }
}

/// A time on the engine's frame counter that can be counted in frames of any node's rate without overflow: within ±2⁵⁰, thousands
/// of years; `Int64.min`, which is now, stays. On the control side, as the render side does not look.
func boundedSampleTime(_ time: Int64) -> Int64 {
    time == .min ? .min : max(-1 << 50, min(1 << 50, time))
}
