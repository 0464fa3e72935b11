// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// Runs voice processing beside a render callback, on its own thread with SCHED_FIFO just below the device's thread, since the
/// library locks and allocates.
///
/// The callback calls `process` of ``port``. Tests and offline rendering do not call ``start(below:)`` but ``runPending()`` after
/// each block. If the output is not the voice, or the library fails, voice processing ends: `process` then gives the plain
/// microphone, and ``error`` has the reason.
public final class VoiceProcessingWorker: @unchecked Sendable {  // `core` is the thread's, or the caller's without one
    /// The device's sample rate in hertz.
    public let sampleRate: Double
    /// The library's sample rate in hertz.
    public let processingRate: Int
    /// The delay in frames, at the device's sample rate, from a captured sample to its processed one in the output of
    /// `process`: collecting 10 ms; a block, or 2 ms if that is more, for the thread to be late; the sample rate converters; and
    /// the library's own delay. Longer blocks than before lengthen it. Any thread.
    public var latency: Int { port.shared.pointee.latency.load(ordering: .relaxed) }
    /// ``latency`` in milliseconds.
    public var latencyMilliseconds: Double { Double(latency) / sampleRate * 1000 }
    /// The render callback's side of the worker; for one callback.
    public let port: VoiceProcessingPort

    private var core: VoiceProcessingCore
    private let rings: (AudioRing, AudioRing)
    private let wakeup = Wakeup()
    private let scratch: [AudioBuffer]
    private let running = Atomic<Bool>(false)
    private let published = Mutex(Published())
    private var thread = pthread_t()
    private var seen = (wanted: 0, late: 0)

    private struct Published {
        var statistics = VoiceStatistics()
        var error: VoiceProcessingError?
    }

    /// - Parameters:
    ///   - sampleRate: the device's sample rate, 8,000 to 192,000 Hz.
    ///   - maximumFrameCount: the maximum length of the device's blocks, 1 to 4096.
    ///   - isOn: the initial value of ``isOn``. If true, the sound is processed from the start, after silence for the latency.
    public init(
        sampleRate: Double, maximumFrameCount: Int, options: VoiceProcessingOptions = VoiceProcessingOptions(),
        isOn: Bool = true
    ) throws(VoiceProcessingError) {
        guard (8_000...192_000).contains(sampleRate) else { throw .unsupportedRate(hertz: sampleRate) }
        precondition((1...4096).contains(maximumFrameCount))
        let processor = try VoiceProcessor(
            sampleRate: VoiceProcessor.nearestRate(to: sampleRate), options: options)
        self.sampleRate = sampleRate
        processingRate = processor.sampleRate
        let frame = Int((sampleRate / 100).rounded(.up))
        let minimumMargin = Int((sampleRate * 0.002).rounded(.up))
        let margin = max(maximumFrameCount, minimumMargin)
        let lead =
            frame + margin
            + VoiceProcessingCore.conversionFrames(deviceRate: sampleRate, rate: Double(processor.sampleRate))
        let latency = lead + Int((processor.delayMilliseconds * sampleRate / 1000).rounded())
        let capacity = max(Int(sampleRate / 4), IOCycle.maximumFrameCount / 2) + lead
        rings = (
            AudioRing(channelCount: 2, capacity: capacity), AudioRing(channelCount: 1, capacity: 2 * capacity)
        )
        core = VoiceProcessingCore(
            processor: processor, deviceRate: sampleRate, input: rings.0.reader, output: rings.1.writer)
        scratch = ([VoiceProcessingPort.dropLength] + Array(repeating: IOCycle.maximumFrameCount, count: 3)).map {
            AudioBuffer(channelCount: 1, frameCapacity: $0)
        }
        port = VoiceProcessingPort(
            toWorker: rings.0.writer, fromWorker: rings.1.reader, wakeup: wakeup.handle,
            scratch: scratch.map(\.channels), sampleRate: sampleRate, latency: latency,
            margins: (margin, minimumMargin), isOn: isOn)
        let silence = AudioBuffer(channelCount: 1, frameCapacity: lead)
        rings.1.writer.write(silence.channels, frameCount: lead)
    }

    deinit {
        stop()
        port.deallocate()
    }

    /// The numbers of frames that the callback requested, that arrived late, and that the worker rejected because its ring was
    /// full.
    public var counts: (wanted: Int, late: Int, rejected: Int) {
        let shared = port.shared
        return (
            shared.pointee.wanted.load(ordering: .relaxed), shared.pointee.late.load(ordering: .relaxed),
            shared.pointee.rejected.load(ordering: .relaxed)
        )
    }

    /// True if `process` gives processed sound. A change fades over 20 ms; turning it on takes effect after ``latency``. Any
    /// thread.
    public var isOn: Bool {
        get { port.shared.pointee.isOn.load(ordering: .relaxed) }
        set { port.shared.pointee.isOn.store(newValue, ordering: .relaxed) }
    }

    /// The library's statistics, updated every 50 ms or so while sound comes. Any thread.
    public var statistics: VoiceStatistics { published.withLock { $0.statistics } }
    /// The reason that voice processing has ended; nil while it runs. Any thread.
    public var error: VoiceProcessingError? { published.withLock { $0.error } }
    /// True once `process` gives the plain microphone permanently.
    package var isLeft: Bool { port.shared.pointee.isLeft.load(ordering: .relaxed) }

    /// Starts the thread; does nothing if it runs already.
    /// - Parameter priority: the SCHED_FIFO priority of the device's thread; nil if that thread has none.
    public func start(below priority: Int?) throws(VoiceProcessingError) {
        guard !running.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let code = earshot_start_thread(
            &thread,
            { context in
                if let context { Unmanaged<VoiceProcessingWorker>.fromOpaque(context).takeUnretainedValue().run() }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
        guard code == 0 else {
            running.store(false, ordering: .releasing)
            throw .noThread(code: Int(code))
        }
        follow(priority)
    }

    /// Sets the thread's priority just below a device's thread, after a change of the device; nil for normal scheduling. Does
    /// nothing while no thread runs.
    package func follow(_ priority: Int?) {
        guard running.load(ordering: .acquiring) else { return }
        if let priority {
            _ = earshot_set_thread_fifo(thread, CInt(max(1, priority - 1)))
        } else {
            _ = earshot_set_thread_normal(thread)
        }
    }

    /// Stops the thread and waits for its end. The port remains usable: it gives silence and counts the frames as late.
    public func stop() {
        guard running.exchange(false, ordering: .acquiringAndReleasing) else { return }
        earshot_wake(wakeup.fileDescriptor)
        pthread_join(thread, nil)
    }

    /// Processes all available sound on the calling thread. Call it only while no thread runs.
    package func runPending() {
        precondition(!running.load(ordering: .acquiring), "the worker's thread runs")
        step()
        publish(waiting: true)
    }

    /// Ends voice processing permanently: `process` gives the plain microphone from its next call on.
    package func leave(_ reason: VoiceProcessingError) {
        published.withLock { $0.error = $0.error ?? reason }
        port.shared.pointee.isLeft.store(true, ordering: .releasing)
    }

    private func step() {
        guard !isLeft else { return }
        do throws(VoiceProcessingError) {
            var finding = try core.run()
            let now = counts
            if finding == nil {
                finding = core.observe(
                    wanted: now.wanted - seen.wanted, late: now.late - seen.late, sampleRate: sampleRate)
            }
            seen = (now.wanted, now.late)
            if let finding { leave(.left(finding)) }
        } catch { leave(error) }
    }

    private func publish(waiting: Bool) {
        let statistics = core.statistics
        if waiting {
            published.withLock { $0.statistics = statistics }
        } else {
            _ = published.withLockIfAvailable { $0.statistics = statistics }
        }
    }

    private func run() {
        earshot_name_thread("voice")
        _ = earshot_flush_denormals()
        var last = HostTime.now()
        while running.load(ordering: .acquiring) {
            step()
            let now = HostTime.now()
            if now.seconds(since: last) > 0.05 {
                publish(waiting: false)
                last = now
            }
            sleep()
        }
        publish(waiting: true)
    }

    private func sleep() {
        wakeup.prepareToSleep()
        guard !core.hasInput || isLeft else { return wakeup.wokeUp() }
        var descriptor = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, 100)
        wakeup.wokeUp(isSignalled: descriptor.revents != 0)
    }
}

extension VoiceProcessingPort {
    init(
        toWorker: AudioRing.Writer, fromWorker: AudioRing.Reader, wakeup: Wakeup.Handle, scratch: [Channels],
        sampleRate: Double, latency: Int, margins: (initial: Int, minimum: Int), isOn: Bool
    ) {
        self.toWorker = toWorker
        self.fromWorker = fromWorker
        self.wakeup = wakeup
        (dropped, microphone, reference, cleaned) = (scratch[0], scratch[1], scratch[2], scratch[3])
        minimumMargin = margins.minimum
        shareStep = Float(1 / (0.02 * sampleRate))
        fadeStep = 1 / Float(Self.fadeLength)
        shared = .allocate(capacity: 1)
        shared.initialize(to: Shared(isOn: isOn, latency: latency))
        state = .allocate(capacity: 1)
        state.initialize(
            to: State(
                share: isOn ? 1 : 0, sinceOn: isOn ? latency : 0, latency: latency, margin: margins.initial))
        pair = .allocate(capacity: 2)
        pair.initialize(repeating: dropped[0], count: 2)
        single = .allocate(capacity: 1)
        single.initialize(to: dropped[0])
    }

    func deallocate() {
        shared.deinitialize(count: 1)
        shared.deallocate()
        state.deallocate()
        pair.deallocate()
        single.deallocate()
    }
}
