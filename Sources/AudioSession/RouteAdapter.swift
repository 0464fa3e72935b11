// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDevices
import Synchronization

/// Connects the open device to the session's client, which sees one frame counter, one sample rate and one channel count through
/// all changes of the route. During a change `sampleTime` advances by the frames that were lost.
///
/// An adapter lies in memory that does not move. The control thread uses it only while no device has callbacks.
struct RouteAdapter: ~Copyable {
    /// Seconds over which a route's sound is faded in and out, so that it does not begin or end with a click.
    static let fade = 0.005

    let rate: Double
    let recorder: CallbackMonitor.Recorder
    private let session: Wakeup.Handle  // woken by the route's first call
    var client: RenderCallback?
    let calls = Atomic<Int>(0)
    let gap = Atomic<Int>(0)  // frames lost before the first call of the device
    let lost = Atomic<Int>(0)  // frames lost between devices so far
    let firstCall = Atomic<Int64>(0)  // when the device's first call was due, nanoseconds
    let isEnding = Atomic<Bool>(false)  // true to fade out
    let hasEnded = Atomic<Bool>(false)  // true after the fade-out

    private let inputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    private let inputCount: Int
    private let outputCount: Int
    private let inputBuffer: AudioBuffer  // captured sound while it is faded in; the device's own memory is others' too
    private let outputBuffer: AudioBuffer  // what is rendered for more channels than the device has
    private let faded: Channels
    private let spare: Channels

    private var converter: UnsafeMutablePointer<RouteConverter>?
    private var deviceRate: Double
    private var isFirstCall = true
    private var hasCalled = false
    private var sampleTime: Int64 = 0
    private var expectedSampleTime: Int64 = 0  // the device's frame counter at its next call
    private var nextDueTime = HostTime(nanoseconds: 0)  // when the next call is due
    private var ahead = 0.0  // the seconds by which the frame counter is ahead of the clock
    private var fadePosition = 0
    private var fadeOutPosition: Int?  // nil before the fade-out
    private var fadeLength: Int  // frames of the device

    init(
        rate: Double, inputCount: Int, outputCount: Int, recorder: CallbackMonitor.Recorder, session: Wakeup.Handle
    ) {
        self.rate = rate
        self.recorder = recorder
        self.session = session
        self.inputCount = inputCount
        self.outputCount = outputCount
        inputBuffer = AudioBuffer(channelCount: max(1, inputCount), frameCapacity: IOCycle.maximumFrameCount)
        outputBuffer = AudioBuffer(channelCount: max(1, outputCount), frameCapacity: IOCycle.maximumFrameCount)
        faded = inputBuffer.channels
        spare = outputBuffer.channels
        inputs = .allocate(capacity: max(1, inputCount))
        outputs = .allocate(capacity: max(1, outputCount))
        inputs.initialize(repeating: faded[0], count: max(1, inputCount))
        outputs.initialize(repeating: spare[0], count: max(1, outputCount))
        deviceRate = rate
        fadeLength = max(1, Int(rate * Self.fade))
    }

    deinit {
        free(converter)
        inputs.deallocate()
        outputs.deallocate()
    }

    /// Prepares the adapter for a device before the device's first callback.
    /// - Parameter newDeviceRate: the device's sample rate in hertz.
    mutating func prepare(for newDeviceRate: Double) {
        free(converter)
        converter = nil
        deviceRate = newDeviceRate
        fadeLength = max(1, Int(newDeviceRate * Self.fade))
        isFirstCall = true
        fadeOutPosition = nil
        isEnding.store(false, ordering: .relaxed)
        hasEnded.store(false, ordering: .relaxed)
        gap.store(0, ordering: .relaxed)
        guard newDeviceRate != rate else { return }
        let new = UnsafeMutablePointer<RouteConverter>.allocate(capacity: 1)
        new.initialize(
            to: RouteConverter(
                sessionRate: rate, deviceRate: newDeviceRate, inputCount: inputCount, outputCount: outputCount))
        converter = new
    }

    /// Keeps the frames until the next callback from counting as lost. Call it only while no device has callbacks.
    mutating func forgetGap() { (hasCalled, ahead) = (false, 0) }

    private func free(_ converter: UnsafeMutablePointer<RouteConverter>?) {
        converter?.deinitialize(count: 1)
        converter?.deallocate()
    }
}

extension RouteAdapter {
    /// Handles one callback of the device.
    @_noLocks
    mutating func process(_ cycle: IOCycle) {
        let frames = min(cycle.frameCount, IOCycle.maximumFrameCount)
        let isNewRoute = isFirstCall
        follow(cycle)
        if fadeOutPosition == nil, isEnding.load(ordering: .relaxed) { fadeOutPosition = 0 }
        var inner = cycle
        inner.frameCount = frames
        inner.sampleTime = sampleTime
        inner.input = mapInputs(cycle.input, frames)
        inner.output = mapOutputs(cycle.output, frames)
        if let client {
            if let converter {
                converter.pointee.process(inner, &sampleTime, client)
                // The client is ahead of the device by the frames that the converter holds.
                nextDueTime = nextDueTime.advanced(bySeconds: converter.pointee.lead)
            } else {
                client(&inner)
                sampleTime &+= Int64(frames)
            }
        }
        finishOutputs(cycle.output, frames)
        advanceFades(frames)
        calls.wrappingAdd(1, ordering: .releasing)
        if isNewRoute { session.wake() }
    }

    /// Advances the session's frame counter by the frames without a callback.
    @_noLocks
    private mutating func follow(_ cycle: IOCycle) {
        var missed: Int64 = 0
        if isFirstCall {
            isFirstCall = false
            fadePosition = 0
            if hasCalled { missed = missedFrames(until: cycle.hostTime) }
            gap.store(Int(missed), ordering: .relaxed)
            lost.wrappingAdd(Int(missed), ordering: .relaxed)
            recorder.skip(Int(missed))
            firstCall.store(cycle.hostTime.nanoseconds, ordering: .relaxed)
            hasCalled = true
        } else if cycle.sampleTime > expectedSampleTime {
            missed = earshot_round(Double(cycle.sampleTime &- expectedSampleTime) * rate / deviceRate)
        }
        sampleTime &+= missed
        expectedSampleTime = cycle.sampleTime &+ Int64(cycle.frameCount)
        nextDueTime = cycle.hostTime.advanced(bySeconds: Double(cycle.frameCount) / deviceRate)
    }

    /// Returns the frames without a device before its first call. A device that begins early leaves the counter ahead of the clock
    /// until the next one.
    @_noLocks
    private mutating func missedFrames(until hostTime: HostTime) -> Int64 {
        let missed = hostTime.seconds(since: nextDueTime) - ahead
        ahead = max(0, 0 - missed)
        return max(0, earshot_round(missed * rate))
    }

    /// Returns the client's inputs: the device's channels. A single channel is copied to all inputs; inputs without a channel are
    /// silent.
    @_noLocks
    private mutating func mapInputs(_ device: Channels, _ frames: Int) -> Channels {
        for c in 0..<inputCount {
            let from = c < device.count ? c : device.count == 1 ? 0 : -1
            if from >= 0, !isFading {
                inputs[c] = device[from]
                continue
            }
            inputs[c] = faded[c]
            if from < 0 {
                clearSamples(faded[c], frames)
            } else {
                for i in 0..<frames { faded[c][i] = device[from][i] * fadeGain(i) }
            }
        }
        return Channels(inputs, count: inputCount)
    }

    /// Returns the client's outputs: the device's own memory, and other memory for channels that the device lacks.
    @_noLocks
    private mutating func mapOutputs(_ device: Channels, _ frames: Int) -> Channels {
        let isMixedDown = device.count == 1 && outputCount > 1
        for c in 0..<outputCount {
            if c < device.count, !isMixedDown {
                outputs[c] = device[c]
            } else {
                outputs[c] = spare[c]
                clearSamples(spare[c], frames)
            }
        }
        return Channels(outputs, count: outputCount)
    }

    @_noLocks
    private func finishOutputs(_ device: Channels, _ frames: Int) {
        if device.count == 1, outputCount > 1 {
            for i in 0..<frames { device[0][i] = 0.5 * (spare[0][i] + spare[1][i]) }
        } else if outputCount == 1, device.count > 1 {
            copySamples(device[1], device[0], frames)
        }
        guard isFading else { return }
        for c in 0..<device.count { for i in 0..<frames { device[c][i] *= fadeGain(i) } }
    }

    private var isFading: Bool { @_noLocks get { fadePosition < fadeLength || fadeOutPosition != nil } }

    @_noLocks
    private func fadeGain(_ frame: Int) -> Float {
        let gain = min(1, Float(fadePosition &+ frame) / Float(fadeLength))
        guard let fadeOutPosition else { return gain }
        return gain * max(0, 1 - Float(fadeOutPosition &+ frame &+ 1) / Float(fadeLength))
    }

    @_noLocks
    private mutating func advanceFades(_ frames: Int) {
        if fadePosition < fadeLength { fadePosition &+= frames }
        guard let position = fadeOutPosition else { return }
        fadeOutPosition = min(fadeLength, position &+ frames)
        if position &+ frames >= fadeLength { hasEnded.store(true, ordering: .relaxed) }
    }
}
