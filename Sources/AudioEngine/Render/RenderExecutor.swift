// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// Runs programs from the device's callback.
///
/// The control thread owns the executor; ``State`` belongs to the render thread while a device runs.
final class RenderExecutor: @unchecked Sendable {  // `state` has one thread at a time; the rest is atomics and queues
    struct State {
        /// The address of the next plan's header, for the render thread to pick up; 0 if there is none.
        let pending: UnsafeMutablePointer<Atomic<UInt>>
        let retired: MessageQueue<UInt>.Writer
        let wakeup: Wakeup.Handle
        let clock: LatestValue<RenderClock>.Writer
        /// The engine's sample rate, rounded to whole hertz.
        let rate: Int64
        /// The counter ``ParameterStore/changeCount``.
        let parameterChangeCount: UnsafeMutablePointer<Atomic<Int>>
        /// The parameter change count at the start of the present cycle.
        var changeCount = 0
        var plan: UInt = 0
        var stage = 0
        var stageLeft = Int.max
        /// The previous plan's header until the present plan reaches its last stage; 0 if there is none.
        var previous: UInt = 0
        /// The frames rendered, without those that the device skipped.
        var rendered: Int64 = 0
        var skipped: Int64 = 0
        var nextDeviceTime: Int64 = .min
    }

    let state: UnsafeMutablePointer<State>
    private let pending: UnsafeMutablePointer<Atomic<UInt>>
    private let retired = MessageQueue<UInt>(capacity: 8)
    private let clockBox = LatestValue(RenderClock())
    private var plans: [UInt: RenderPlan] = [:]

    /// - Parameter wakeup: signalled when a plan has been retired.
    init(rate: Int64, wakeup: Wakeup.Handle) {
        pending = .allocate(capacity: 1)
        pending.initialize(to: Atomic(0))
        state = .allocate(capacity: 1)
        state.initialize(
            to: State(
                pending: pending, retired: retired.writer, wakeup: wakeup, clock: clockBox.writer, rate: rate,
                parameterChangeCount: ParameterStore.changeCount))
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
        pending.deinitialize(count: 1)
        pending.deallocate()
    }

    /// True while the previous plan is kept: the newest one is pending or has not reached its last stage.
    var isBusy: Bool { plans.count > 1 }

    /// Posts a plan, which the render thread begins at its next block.
    /// - Precondition: not ``isBusy``.
    func post(_ plan: RenderPlan) {
        let key = UInt(bitPattern: plan.header)
        plans[key] = plan
        pending.pointee.store(key, ordering: .releasing)
    }

    /// Frees the plans that the render thread has retired. Returns true if there were any.
    @discardableResult
    func collect() -> Bool {
        var any = false
        while let key = retired.pop() {
            plans[key] = nil
            any = true
        }
        return any
    }

    /// Applies the pending plan at once and skips its fades. Call it only while no thread renders.
    func settle() {
        let key = pending.pointee.exchange(0, ordering: .acquiringAndReleasing)
        if key != 0 { state.pointee.plan = key }
        if state.pointee.plan != 0 { state.pointee.jumpToLastStage() }
        plans = plans.filter { $0.key == state.pointee.plan }
        while retired.pop() != nil {}
    }

    /// The clock at the start of the last cycle. For one reader.
    var clock: RenderClock { clockBox.load() }

    var callback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(state)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: State.self).pointee.render(cycle.assumingMemoryBound(to: IOCycle.self))
        }
    }
}

/// The engine's frame counter and the host time at the same instant.
struct RenderClock: BitwiseCopyable, Sendable {
    /// The frame at the start of the last cycle; 0 before the first.
    var sampleTime: Int64 = 0
    var hostTime = HostTime(nanoseconds: 0)
    var frameCount = 0
}

extension RenderExecutor.State {
    private typealias Plan = UnsafePointer<RenderPlan.Header>

    /// Renders one cycle of the device.
    @_noLocks
    mutating func render(_ cycle: UnsafePointer<IOCycle>) {
        let denormals = earshot_flush_denormals()
        if nextDeviceTime != .min, cycle.pointee.sampleTime > nextDeviceTime {
            skipped &+= cycle.pointee.sampleTime &- nextDeviceTime
        }
        nextDeviceTime = cycle.pointee.sampleTime &+ Int64(cycle.pointee.frameCount)
        clock.store(
            RenderClock(
                sampleTime: rendered &+ skipped, hostTime: cycle.pointee.hostTime, frameCount: cycle.pointee.frameCount)
        )
        changeCount = parameterChangeCount.pointee.load(ordering: .acquiring)
        takePendingPlan()
        var offset = 0
        while offset < cycle.pointee.frameCount {
            var count = cycle.pointee.frameCount &- offset
            if count > sliceFrameCount { count = sliceFrameCount }
            if count > stageLeft { count = stageLeft }
            if let program = currentProgram { run(program, cycle, offset, count) }
            rendered &+= Int64(count)
            offset &+= count
            if stageLeft != Int.max {
                stageLeft &-= count
                if stageLeft == 0 { nextStage() }
            }
        }
        earshot_restore_denormals(denormals)
    }

    private var sliceFrameCount: Int { @_noLocks get { 256 } }  // RenderProgram.sliceFrameCount, which is a static let

    private var currentProgram: UnsafeMutablePointer<RenderProgram.Header>? {
        @_noLocks get {
            guard let plan = Plan(bitPattern: plan) else { return nil }
            return plan.pointee.stages[stage].program
        }
    }

    @_noLocks
    private mutating func takePendingPlan() {
        guard pending.pointee.load(ordering: .relaxed) != 0 else { return }
        let next = pending.pointee.exchange(0, ordering: .acquiringAndReleasing)
        let old = plan
        plan = next
        stage = 0
        previous = old
        enterStage()
    }

    @_noLocks
    private mutating func nextStage() {
        stage &+= 1
        enterStage()
    }

    /// Starts the present stage. The plan's last stage retires the previous plan.
    @_noLocks
    private mutating func enterStage() {
        guard let header = Plan(bitPattern: plan) else { return }
        stageLeft = header.pointee.stages[stage].frameCount
        guard stage == header.pointee.count &- 1 else { return }
        if previous != 0 {
            retired.push(previous)
            previous = 0
            wakeup.wake()
        }
    }

    mutating func jumpToLastStage() {
        guard let header = Plan(bitPattern: plan) else { return }
        stage = header.pointee.count - 1
        stageLeft = .max
        previous = 0
    }

    @_noLocks
    private mutating func run(
        _ program: UnsafeMutablePointer<RenderProgram.Header>, _ cycle: UnsafePointer<IOCycle>, _ offset: Int,
        _ count: Int
    ) {
        // Each rate domain renders its frames within this slice of the device's time, so that the number of frames does not
        // drift.
        for d in 0..<program.pointee.domainCount {
            let domainRate = program.pointee.rates[d]
            let from = d == 0 ? rendered : rendered &* domainRate / rate
            let to = d == 0 ? rendered &+ Int64(count) : (rendered &+ Int64(count)) &* domainRate / rate
            program.pointee.counts[d] = Int(to &- from)
            program.pointee.times[d] = from &+ (d == 0 ? skipped : skipped &* domainRate / rate)
        }
        let hostTime =
            offset == 0
            ? cycle.pointee.hostTime : cycle.pointee.hostTime.advanced(bySeconds: Double(offset) / Double(rate))
        let steps = program.pointee.steps
        guard program.pointee.stepCount > 0 else { return }
        var call = RenderCall(
            steps[0], frameCount: program.pointee.counts[0], sampleTime: program.pointee.times[0], hostTime: hostTime,
            cycle: cycle, offset: offset, changeCount: changeCount)
        var domain = 0
        withUnsafeMutablePointer(to: &call) { call in
            for i in 0..<program.pointee.stepCount {
                let step = steps + i
                // Other code has used the cache since the last block, so a node's state may not be in the cache.
                if i &+ 2 < program.pointee.stepCount { earshot_prefetch(steps[i &+ 2].state) }
                call.pointee.inputs = step.pointee.inputs
                call.pointee.inputCount = step.pointee.inputCount
                call.pointee.outputs = step.pointee.outputs
                call.pointee.outputCount = step.pointee.outputCount
                if step.pointee.domain != domain {
                    domain = step.pointee.domain
                    call.pointee.frameCount = program.pointee.counts[domain]
                    call.pointee.sampleTime = program.pointee.times[domain]
                }
                earshot_unit_process(step.pointee.function, step.pointee.state, UnsafeRawPointer(call))
            }
        }
    }
}
