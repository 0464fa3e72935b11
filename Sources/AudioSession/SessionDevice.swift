// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Synchronization

/// The session's I/O unit: a device that stays while the hardware behind it comes and goes.
///
/// Its rate and channel counts are those of the session's activation. While there is no hardware it does not call.
final class SessionDevice: AudioDevice {
    let sampleRate: Double
    let inputChannelCount: Int
    let outputChannelCount: Int
    let monitor: CallbackMonitor
    /// Wakes the session's thread: for the first call of each device.
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
    /// Nil: what fails is the hardware, which the session replaces.
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
    /// Puts another device in place of the present one, running if that ran.
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

    /// Lets the present device go.
    func close() {
        slot.withLock { slot in
            slot.device?.stop()
            slot.device = nil
        }
    }

    /// Forgets a gap: frames that no device called for are not counted as lost. Call it only while no device is open.
    func forgetGap() {
        let adapter = adapter
        slot.withLock { if $0.device == nil { adapter.state.pointee.forgetGap() } }
    }

    var isOpen: Bool { slot.withLock { $0.device != nil } }
    var isStarted: Bool { slot.withLock { $0.isStarted } }
    /// The reason that the hardware stopped.
    var hardwareFailure: AudioDeviceError? { current?.failure }
    /// The hardware itself, for what only it can tell.
    var hardware: (any AudioDevice)? { current }
    var callCount: Int { adapter.state.pointee.calls.load(ordering: .acquiring) }
    /// Seconds lost before the present hardware's first call, and when that was due.
    var gap: (seconds: Double, firstCall: HostTime) {
        let state = adapter.state
        return (
            Double(state.pointee.gap.load(ordering: .relaxed)) / sampleRate,
            HostTime(nanoseconds: state.pointee.firstCall.load(ordering: .relaxed))
        )
    }
    /// Frames lost between devices so far.
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
