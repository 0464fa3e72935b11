// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Synchronization

/// The session's I/O unit: a device that stays the same while the hardware behind it changes.
///
/// Its rate and channel counts are those of the session's first activation. While there is no hardware, there are no callbacks.
final class SessionDevice: AudioDevice {
    let sampleRate: Double
    let inputChannelCount: Int
    let outputChannelCount: Int
    let monitor: CallbackMonitor
    /// Wakes the session's thread at the first callback of each device.
    let wakeup = Wakeup()

    private struct Slot {
        var device: (any AudioDevice)?
        var name = ""
        var isStarted = false
    }
    private let slot = Mutex(Slot())
    private let adapter: Adapter

    private struct Adapter: @unchecked Sendable {  // touched under `slot`'s lock while no device calls; else atomics
        let state: UnsafeMutablePointer<RouteAdapter>
    }

    init(sampleRate: Double, inputChannelCount: Int, outputChannelCount: Int, monitor: CallbackMonitor) {
        self.sampleRate = sampleRate
        self.inputChannelCount = inputChannelCount
        self.outputChannelCount = outputChannelCount
        self.monitor = monitor
        let state = UnsafeMutablePointer<RouteAdapter>.allocate(capacity: 1)
        state.initialize(
            to: RouteAdapter(
                rate: sampleRate, inputCount: inputChannelCount, outputCount: outputChannelCount,
                recorder: monitor.recorder, session: wakeup.handle))
        adapter = Adapter(state: state)
    }

    deinit {
        close()
        adapter.state.deinitialize(count: 1)
        adapter.state.deallocate()
    }

    private var current: (any AudioDevice)? { slot.withLock { $0.device } }

    var name: String { slot.withLock { $0.name } }
    var blockFrameCount: Int {
        guard let current else { return Int(sampleRate * 0.005) }
        return Int((Double(current.blockFrameCount) * sampleRate / current.sampleRate).rounded())
    }
    var inputLatency: Double { current?.inputLatency ?? 0 }
    var outputLatency: Double { current?.outputLatency ?? 0 }
    var realTimePriority: Int? { current?.realTimePriority }
    /// Always nil, since only the hardware fails, which the session replaces.
    var failure: AudioDeviceError? { nil }

    func start(_ callback: RenderCallback) throws(AudioDeviceError) {
        let adapter = adapter
        let error = slot.withLock { slot -> AudioDeviceError? in
            guard !slot.isStarted else { return .alreadyRunning }
            adapter.state.pointee.client = callback
            adapter.state.pointee.forgetGap()
            if let error = Self.start(slot.device, adapter) { return error }
            slot.isStarted = true
            return nil
        }
        if let error { throw error }
    }

    func stop() {
        let adapter = adapter
        slot.withLock { slot in
            slot.device?.stop()
            slot.isStarted = false
            adapter.state.pointee.client = nil
        }
    }
}

extension SessionDevice {
    /// The maximum seconds to wait for the end of a fade.
    private static let fadeLimit = 0.1

    /// Fades out the sound of the present device in both directions, and waits until that is done. A device that calls too rarely
    /// is not waited for.
    func fadeOut(_ clock: SessionClock) {
        guard slot.withLock({ $0.isStarted && $0.device != nil }) else { return }
        adapter.state.pointee.isEnding.store(true, ordering: .relaxed)
        let end = clock.now().advanced(bySeconds: Self.fadeLimit)
        while !adapter.state.pointee.hasEnded.load(ordering: .relaxed), isStarted, hardwareFailure == nil,
            clock.now() < end
        {
            clock.wait(0.001)
        }
    }

    /// Replaces the present device. The new one runs if the old one did.
    func replace(with device: any AudioDevice) throws(AudioDeviceError) {
        let adapter = adapter
        let error = slot.withLock { slot -> AudioDeviceError? in
            slot.device?.stop()
            slot.device = nil
            if slot.isStarted, let error = Self.start(device, adapter) { return error }
            slot.device = device
            slot.name = device.name
            return nil
        }
        if let error { throw error }
    }

    /// Closes the present device.
    func close() {
        slot.withLock { slot in
            slot.device?.stop()
            slot.device = nil
        }
    }

    /// Excludes the frames of the current gap from the lost ones. Call it only while no device is open.
    func forgetGap() {
        let adapter = adapter
        slot.withLock { if $0.device == nil { adapter.state.pointee.forgetGap() } }
    }

    var isOpen: Bool { slot.withLock { $0.device != nil } }
    var isStarted: Bool { slot.withLock { $0.isStarted } }
    /// The reason for which the open hardware device stopped; nil while it works, or if none is open.
    var hardwareFailure: AudioDeviceError? { current?.failure }
    /// The open hardware device; nil if there is none.
    var hardware: (any AudioDevice)? { current }
    var callCount: Int { adapter.state.pointee.calls.load(ordering: .acquiring) }
    /// The seconds lost before the present hardware's first callback, and the time at which that callback was due.
    var gap: (seconds: Double, firstCall: HostTime) {
        let state = adapter.state
        return (
            Double(state.pointee.gap.load(ordering: .relaxed)) / sampleRate,
            HostTime(nanoseconds: state.pointee.firstCall.load(ordering: .relaxed))
        )
    }
    /// The frames lost during changes of the device so far.
    var lostFrameCount: Int { adapter.state.pointee.lost.load(ordering: .relaxed) }

    private static func start(_ device: (any AudioDevice)?, _ adapter: Adapter) -> AudioDeviceError? {
        guard let device else { return nil }
        adapter.state.pointee.prepare(for: device.sampleRate)
        do throws(AudioDeviceError) {
            try device.start(
                RenderCallback(context: UnsafeMutableRawPointer(adapter.state)) { context, cycle in
                    guard let context, let cycle else { return }
                    context.assumingMemoryBound(to: RouteAdapter.self).pointee.process(
                        cycle.assumingMemoryBound(to: IOCycle.self).pointee)
                })
            return nil
        } catch { return error }
    }
}
