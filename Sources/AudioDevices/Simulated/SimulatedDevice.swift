import AudioBase
import CRealtime
import Synchronization

/// A ``SimulatedCard`` in real time, driven by a thread of its own under SCHED_FIFO at priority 70.
///
/// Where the system does not grant real-time scheduling the thread runs normally, and ``realTimePriority`` is nil.
public final class SimulatedDevice: AudioDevice {
    /// The card that is driven: its counters, its converters' times.
    public let card: SimulatedCard

    private static let priority = 70
    private let memory: Memory
    private let thread = Mutex<pthread_t?>(nil)

    /// - Throws: ``AudioDeviceError/unsupportedFormat(detail:)``.
    public init(_ configuration: SimulatedCard.Configuration) throws(AudioDeviceError) {
        card = try SimulatedCard(configuration)
        memory = Memory(renderer: card.renderer)
    }

    deinit {
        stop()
        memory.deallocate()
    }

    /// "simulated".
    public var name: String { "simulated" }
    /// Hertz, nominal.
    public var sampleRate: Double { card.configuration.sampleRate }
    /// Frames in every call.
    public var blockFrameCount: Int { card.configuration.blockFrameCount }
    /// Microphones.
    public var inputChannelCount: Int { card.configuration.inputChannelCount }
    /// Loudspeakers.
    public var outputChannelCount: Int { card.configuration.outputChannelCount }
    /// One block, in seconds.
    public var inputLatency: Double { Double(blockFrameCount) / sampleRate }
    /// One block, in seconds.
    public var outputLatency: Double { Double(blockFrameCount) / sampleRate }
    /// Each call's time, and the xruns.
    public var monitor: CallbackMonitor { card.monitor }
    /// Nil: it does not fail.
    public var failure: AudioDeviceError? { nil }
    /// 70 while started, or nil where the system granted no real-time scheduling.
    public var realTimePriority: Int? {
        memory.shared.pointee.phase.load(ordering: .acquiring) == Phase.realTime ? Self.priority : nil
    }

    /// Starts the thread; T0 is some milliseconds later.
    /// - Throws: ``AudioDeviceError/alreadyRunning``, ``AudioDeviceError/noThread(code:)``.
    public func start(_ callback: RenderCallback) throws(AudioDeviceError) {
        let memory = memory
        let error = thread.withLock { thread -> AudioDeviceError? in
            guard thread == nil else { return .alreadyRunning }
            memory.shared.pointee.callback = callback
            memory.shared.pointee.phase.store(Phase.starting, ordering: .releasing)
            var new = pthread_t()
            let code = earshot_start_thread(&new, runSimulatedDevice, memory.shared)
            guard code == 0 else { return .noThread(code: Int(code)) }
            thread = new
            return nil
        }
        if let error { throw error }
        while memory.shared.pointee.phase.load(ordering: .acquiring) == Phase.starting {
            earshot_sleep_until_ns(earshot_monotonic_ns() + 100_000)
        }
    }

    /// Ends the thread after the cycle that runs.
    public func stop() {
        thread.withLock { thread in
            guard let running = thread else { return }
            memory.shared.pointee.phase.store(Phase.stopping, ordering: .releasing)
            pthread_join(running, nil)
            thread = nil
        }
    }
}

extension SimulatedDevice {
    enum Phase {
        static let starting = 0
        static let realTime = 1
        static let normal = 2
        static let stopping = 3
    }

    /// What the control thread and the device's thread share.
    struct Shared: ~Copyable {
        let renderer: SimulatedCard.Renderer
        var callback: RenderCallback?  // set before the thread starts
        let phase = Atomic<Int>(Phase.stopping)
    }

    struct Memory: @unchecked Sendable {  // `callback` is set while no thread runs; the rest is constant or atomic
        let shared: UnsafeMutablePointer<Shared>

        init(renderer: SimulatedCard.Renderer) {
            shared = .allocate(capacity: 1)
            shared.initialize(to: Shared(renderer: renderer, callback: nil))
        }

        func deallocate() {
            shared.deinitialize(count: 1)
            shared.deallocate()
        }
    }

    /// The thread: sleeps until each cycle is due.
    static func run(_ shared: UnsafeMutablePointer<Shared>) {
        guard let callback = shared.pointee.callback else { return }
        let renderer = shared.pointee.renderer
        earshot_name_thread("simulated-card")
        let isRealTime = earshot_set_fifo(CInt(priority)) == 0
        renderer.start(at: HostTime(nanoseconds: earshot_monotonic_ns() + 5_000_000))
        _ = shared.pointee.phase.compareExchange(
            expected: Phase.starting, desired: isRealTime ? Phase.realTime : Phase.normal,
            ordering: .acquiringAndReleasing)
        while shared.pointee.phase.load(ordering: .relaxed) != Phase.stopping {
            earshot_sleep_until_ns(renderer.nextCallTime.nanoseconds)
            renderer.runCycle(callback)
        }
    }
}

private func runSimulatedDevice(_ shared: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let shared { SimulatedDevice.run(shared.assumingMemoryBound(to: SimulatedDevice.Shared.self)) }
    return nil
}
