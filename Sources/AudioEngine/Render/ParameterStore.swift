// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// Passes parameters from the threads that set them to the render thread.
///
/// A value for now is an atomic with a version that marks the change. A value for later, or with a ramp, is a message in a queue.
final class ParameterStore: @unchecked Sendable {  // atomics, and a queue whose writers take `lastSetValues`'s lock
    struct Event: BitwiseCopyable, Sendable {
        var index: Int
        var value: Float
        var rampSeconds: Float
        /// The start on the engine's frame counter; `Int64.min` for now.
        var time: Int64
        /// The store's version when the event was scheduled.
        var version: Int
    }

    let parameters: [UnitParameter]
    /// The present values, as the bits of a `Float`. The render thread also stores scheduled values here when they are due.
    let targets: UnsafeMutablePointer<Atomic<UInt32>>
    let version: UnsafeMutablePointer<Atomic<Int>>
    /// The version at which each present value was last set.
    let stamps: UnsafeMutablePointer<Atomic<Int>>
    /// The scheduled events that the render thread has received, the soonest last. The store keeps them because they outlive a
    /// node's state.
    let waiting: UnsafeMutablePointer<Event>
    let waitingCount: UnsafeMutablePointer<Int>
    let waitingCapacity = 256
    /// The number of changes in all stores. While it is the same, the render thread reads no store.
    nonisolated(unsafe) static let changeCount: UnsafeMutablePointer<Atomic<Int>> = {
        let changeCount = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
        changeCount.initialize(to: Atomic(0))
        return changeCount
    }()
    let events = MessageQueue<Event>(capacity: 256)
    private let lastSetValues: LockedValue<[Float]>

    init(_ parameters: [UnitParameter]) {
        self.parameters = parameters
        lastSetValues = LockedValue(parameters.map(\.defaultValue))
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

    var values: [Float] { lastSetValues.withLock { $0 } }

    /// Sets a parameter now. Values are clamped to the range; NaN and infinity are ignored.
    func set(_ index: Int, to value: Float) { set([index: value]) }

    /// Sets several parameters by their index, all from the same block on. NaN and infinity are ignored.
    func set(_ values: [Int: Float]) {
        lastSetValues.withLock { lastSetValues in
            let next = version.pointee.load(ordering: .relaxed) + 1
            for (index, value) in values where value.isFinite {
                lastSetValues[index] = clamped(value, index)
                targets[index].store(lastSetValues[index].bitPattern, ordering: .relaxed)
                stamps[index].store(next, ordering: .relaxed)
            }
            version.pointee.store(next, ordering: .releasing)
            // The counter is named by its type: `Self` would read the object, which the thread sanitizer reports as a race.
            ParameterStore.changeCount.pointee.add(1, ordering: .releasing)
        }
    }

    /// Schedules a change of a parameter; ignores NaN and infinity. Returns false if the queue of changes is full.
    func schedule(_ index: Int, to value: Float, rampSeconds: Double, at time: Int64) -> Bool {
        guard value.isFinite else { return true }
        return lastSetValues.withLock { lastSetValues in
            let value = clamped(value, index)
            let event = Event(
                index: index, value: value, rampSeconds: Float(max(0, min(ParameterStore.longestRamp, rampSeconds))),
                time: boundedSampleTime(time), version: version.pointee.load(ordering: .relaxed))
            guard events.writer.push(event) else { return false }
            ParameterStore.changeCount.pointee.add(1, ordering: .releasing)
            lastSetValues[index] = value
            return true
        }
    }

    /// The longest ramp in seconds: a week.
    private static let longestRamp = 604_800.0

    private func clamped(_ value: Float, _ index: Int) -> Float {
        let range = parameters[index].range
        return max(range.lowerBound, min(range.upperBound, value))
    }
}

/// Clamps a frame of the engine's counter to ±2⁵⁰, thousands of years, so that it can be converted to any node's rate without
/// overflow; keeps `Int64.min`, which means now. On the control thread, because the render thread does not check.
func boundedSampleTime(_ time: Int64) -> Int64 {
    time == .min ? .min : max(-1 << 50, min(1 << 50, time))
}
