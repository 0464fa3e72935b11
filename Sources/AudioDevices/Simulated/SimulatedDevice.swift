// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// A ``SimulatedCard`` in real time, driven by a thread of this device with SCHED_FIFO at priority 70.
///
/// Without real-time scheduling the thread runs normally, and ``realTimePriority`` is nil.
public final class SimulatedDevice: AudioDevice {
    /// The device's name, as shown to users.
    public let name: String
    /// The driven card, with its counters and the times of its converters.
    public let card: SimulatedCard

    private static let priority = 70
    private let memory: Memory
    private let slot: SimulatedSystem.Slot?
    private let thread = Mutex<pthread_t?>(nil)
    private let reason = Mutex<AudioDeviceError?>(nil)

    /// - Parameter monitor: records the callbacks; nil for a new monitor.
    /// - Throws: ``AudioDeviceError/unsupportedFormat(detail:)``.
    public convenience init(
        _ configuration: SimulatedCard.Configuration, name: String = "simulated", monitor: CallbackMonitor? = nil
    ) throws(AudioDeviceError) {
        try self.init(configuration, name: name, monitor: monitor, slot: nil)
    }

    init(
        _ configuration: SimulatedCard.Configuration, name: String, monitor: CallbackMonitor?,
        slot: SimulatedSystem.Slot?
    ) throws(AudioDeviceError) {
        self.name = name
        self.slot = slot
        card = try SimulatedCard(configuration, monitor: monitor)
        memory = Memory(renderer: card.renderer)
    }

    deinit {
        stop()
        memory.deallocate()
    }

    /// The nominal rate in hertz.
    public var sampleRate: Double { card.configuration.sampleRate }
    /// The frames of each callback, or of the longest if they vary.
    public var blockFrameCount: Int { card.configuration.longestBlock }
    /// The number of buffers in each cycle's `input`.
    public var inputChannelCount: Int {
        card.configuration.inputChannelMap?.count ?? card.configuration.inputChannelCount
    }
    /// The number of buffers in each cycle's `output`.
    public var outputChannelCount: Int {
        card.configuration.outputChannelMap?.count ?? card.configuration.outputChannelCount
    }
    /// One block, in seconds.
    public var inputLatency: Double { Double(blockFrameCount) / sampleRate }
    /// One block, in seconds.
    public var outputLatency: Double { Double(blockFrameCount) / sampleRate }
    /// Records the callbacks' times, and the xruns.
    public var monitor: CallbackMonitor { card.monitor }
    /// ``AudioDeviceError/deviceGone(name:)`` after the card vanished, or the error of its system.
    public var failure: AudioDeviceError? { reason.withLock { $0 } ?? (hasVanished ? .deviceGone(name: name) : nil) }
    /// 70 while the device is started; nil while it is not, or if real-time scheduling was denied.
    public var realTimePriority: Int? {
        memory.shared.pointee.phase.load(ordering: .acquiring) == Phase.realTime ? Self.priority : nil
    }

    /// Starts the thread. The card starts some milliseconds later: the T0 of ``SimulatedCard``.
    /// - Throws: ``AudioDeviceError/alreadyRunning``, ``AudioDeviceError/noThread(code:)``, and ``failure``.
    public func start(_ callback: RenderCallback) throws(AudioDeviceError) {
        if let failure { throw failure }
        let (memory, slot) = (memory, slot)
        let error = thread.withLock { thread -> AudioDeviceError? in
            guard thread == nil else { return .alreadyRunning }
            memory.shared.pointee.callback = callback
            let rings = slot == nil ? SimulatedCard.RingMarks() : slot?.takeRings()
            memory.shared.pointee.rings = rings
            memory.shared.pointee.phase.store(Phase.starting, ordering: .releasing)
            var new = pthread_t()
            let code = earshot_start_thread(&new, runSimulatedDevice, memory.shared)
            guard code == 0 else {
                if let rings { slot?.returnRings(rings) }
                return .noThread(code: Int(code))
            }
            thread = new
            return nil
        }
        if let error { throw error }
        while memory.shared.pointee.phase.load(ordering: .acquiring) == Phase.starting {
            earshot_sleep_until_ns(earshot_monotonic_ns() + 100_000)
        }
        if let start = card.firstInputFrameTime { slot?.noteStart(start) }
    }

    /// Ends the thread after the running cycle.
    public func stop() {
        thread.withLock { thread in
            guard let running = thread else { return }
            memory.shared.pointee.phase.store(Phase.stopping, ordering: .releasing)
            pthread_join(running, nil)
            thread = nil
            if memory.shared.pointee.rings != nil { slot?.returnRings(card.renderer.ringMarks) }
        }
    }

    /// Fails the device: after a running callback no other comes. Any thread; only the first reason is kept.
    func fail(_ error: AudioDeviceError) {
        reason.withLock { $0 = $0 ?? error }
        memory.shared.pointee.isRemoved.store(true, ordering: .releasing)
    }

    private var hasVanished: Bool { memory.shared.pointee.hasVanished.load(ordering: .acquiring) }
}

extension SimulatedDevice {
    enum Phase {
        static let starting = 0
        static let realTime = 1
        static let normal = 2
        static let stopping = 3
    }

    /// The state shared by the control thread and the device's thread.
    struct Shared: ~Copyable {
        let renderer: SimulatedCard.Renderer
        var callback: RenderCallback?  // set before the thread starts
        var rings: SimulatedCard.RingMarks?  // set before the thread starts; nil if another device has the card's rings
        let phase = Atomic<Int>(Phase.stopping)
        let isRemoved = Atomic<Bool>(false)
        let hasVanished = Atomic<Bool>(false)

        init(renderer: SimulatedCard.Renderer) { self.renderer = renderer }
    }

    struct Memory: @unchecked Sendable {  // what is not atomic is set while no thread runs
        let shared: UnsafeMutablePointer<Shared>

        init(renderer: SimulatedCard.Renderer) {
            shared = .allocate(capacity: 1)
            shared.initialize(to: Shared(renderer: renderer))
        }

        func deallocate() {
            shared.deinitialize(count: 1)
            shared.deallocate()
        }
    }

    /// Runs the thread: sleeps until each cycle is due, at most 20 ms at once so that it can be stopped in a stall.
    static func run(_ shared: UnsafeMutablePointer<Shared>) {
        guard let callback = shared.pointee.callback else { return }
        let renderer = shared.pointee.renderer
        earshot_name_thread("simulated-card")
        let isRealTime = earshot_set_fifo(CInt(priority)) == 0
        renderer.start(
            at: HostTime(nanoseconds: earshot_monotonic_ns() + 5_000_000), usingRings: shared.pointee.rings != nil,
            shared.pointee.rings ?? SimulatedCard.RingMarks())
        _ = shared.pointee.phase.compareExchange(
            expected: Phase.starting, desired: isRealTime ? Phase.realTime : Phase.normal,
            ordering: .acquiringAndReleasing)
        let vanishing = renderer.vanishingTime?.nanoseconds ?? .max
        while shared.pointee.phase.load(ordering: .relaxed) != Phase.stopping,
            !shared.pointee.isRemoved.load(ordering: .relaxed)
        {
            let next = renderer.nextCallTime.nanoseconds
            let now = earshot_monotonic_ns()
            if now >= vanishing {
                shared.pointee.hasVanished.store(true, ordering: .releasing)
                return
            }
            if now < next {
                earshot_sleep_until_ns(min(next, vanishing, now + 20_000_000))
            } else {
                renderer.runCycle(callback)
            }
        }
    }
}

private func runSimulatedDevice(_ shared: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let shared { SimulatedDevice.run(shared.assumingMemoryBound(to: SimulatedDevice.Shared.self)) }
    return nil
}
