// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// Plays the captured sound, for example from a microphone to headphones, with adjustable gain and delay. It can also measure the
/// round trip of a loop that a cable or a monitor link closes.
///
/// A single input goes to all outputs; of several, input n goes to output n modulo the number of outputs. Outputs are
/// limited to full scale, and each detected feedback reduces the gain by 12 dB. Members are for one control thread, unless
/// documented otherwise.
public final class Loopback: Sendable {
    /// The maximum extra delay in seconds.
    package static let maximumExtraDelay = 2.0

    /// The device's sample rate in hertz.
    public let sampleRate: Double
    private let levels: LatestValue<LoopbackLevels>
    private let ring: AudioRing
    private let probe: AudioBuffer
    private let captureLength: Int
    private let memory: Memory

    /// Memory that is allocated once and freed with the loopback.
    private struct Memory: @unchecked Sendable {  // the device's thread has `state`; `controls` are atomic
        let state: UnsafeMutablePointer<LoopbackState>
        let controls: UnsafeMutablePointer<LoopbackControls>
    }

    /// Creates a loopback for one device.
    /// - Parameters:
    ///   - sampleRate: the device's sample rate in hertz.
    ///   - inputChannelCount: 1 to 32.
    ///   - maximumRoundTrip: the maximum seconds until a probe returns, 0.01 to 10.
    public convenience init(sampleRate: Double, inputChannelCount: Int, maximumRoundTrip: Double = 1) {
        self.init(
            sampleRate: sampleRate, inputChannelCount: inputChannelCount, maximumRoundTrip: maximumRoundTrip,
            sweepDuration: ProbeSignal.duration)
    }

    /// Creates a loopback that calibrates a device along a path.
    /// - Parameter inputChannelCount: 1 to 32.
    package convenience init(sampleRate: Double, inputChannelCount: Int, calibrating path: LoopPath) {
        self.init(
            sampleRate: sampleRate, inputChannelCount: inputChannelCount, maximumRoundTrip: path.maximumRoundTrip,
            sweepDuration: path.sweepDuration)
    }

    private init(sampleRate: Double, inputChannelCount: Int, maximumRoundTrip: Double, sweepDuration: Double) {
        precondition(AudioFormat.sampleRates.contains(sampleRate) && (0.01...10).contains(maximumRoundTrip))
        self.sampleRate = sampleRate
        let samples = ProbeSignal.samples(rate: sampleRate, duration: sweepDuration)
        probe = AudioBuffer(channelCount: 1, frameCapacity: samples.count)
        for (i, sample) in samples.enumerated() { probe.channels[0][i] = sample }
        captureLength = samples.count + Int(maximumRoundTrip * sampleRate)
        ring = AudioRing(channelCount: inputChannelCount, capacity: captureLength)
        levels = LatestValue(LoopbackLevels())
        let controls = UnsafeMutablePointer<LoopbackControls>.allocate(capacity: 1)
        controls.initialize(to: LoopbackControls())
        let state = UnsafeMutablePointer<LoopbackState>.allocate(capacity: 1)
        state.initialize(
            to: LoopbackState(
                controls: controls, levels: levels.writer, ring: ring.writer, probe: probe,
                captureLength: captureLength, channelCount: inputChannelCount, sampleRate: sampleRate,
                maximumDelay: Int(Self.maximumExtraDelay * sampleRate)))
        memory = Memory(state: state, controls: controls)
    }

    deinit {
        memory.state.deinitialize(count: 1)
        memory.state.deallocate()
        memory.controls.deinitialize(count: 1)
        memory.controls.deallocate()
    }

    /// The callback for the device; valid during the life of this object.
    public var callback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(memory.state)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: LoopbackState.self).pointee.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }

    /// The linear gain, 0 to 16; initially 1. Setting it takes effect within 20 ms and undoes the reductions after feedback. Any
    /// thread.
    public var gain: Float {
        get { Float(bitPattern: memory.controls.pointee.gain.load(ordering: .relaxed)) }
        set {
            let gain = newValue >= 0 ? min(16, newValue) : 0
            memory.controls.pointee.gain.store(gain.bitPattern, ordering: .relaxed)
            memory.controls.pointee.reduction.store(Float(1).bitPattern, ordering: .relaxed)
            memory.controls.pointee.gainSettings.wrappingAdd(1, ordering: .releasing)
        }
    }

    /// The extra delay in frames, up to ``maximumExtraDelay``. A change fades over 20 ms. Any thread.
    public var extraDelayFrameCount: Int {
        get { memory.controls.pointee.delay.load(ordering: .relaxed) }
        set {
            let maximumFrameCount = Int(Self.maximumExtraDelay * sampleRate)
            memory.controls.pointee.delay.store(max(0, min(maximumFrameCount, newValue)), ordering: .relaxed)
        }
    }

    /// The factor by which feedback has reduced the gain, 1 or less. Any thread.
    package var howlReduction: Float {
        Float(bitPattern: memory.controls.pointee.reduction.load(ordering: .relaxed))
    }
    /// Detected feedbacks so far; each reduces the gain by 12 dB. Any thread.
    package var howlCount: Int { memory.controls.pointee.howls.load(ordering: .acquiring) }

    /// The levels of the last callback. For one reading thread.
    public var currentLevels: LoopbackLevels { levels.load() }

    /// The mouth-to-ear delay as the device reported it in the last callback; nil before the first. For the reading thread of
    /// ``currentLevels``.
    public var statedDelay: ReportedLatency? {
        let last = levels.load()
        guard last.frameCount > 0 else { return nil }
        return ReportedLatency(
            input: last.inputLatency, output: last.outputLatency, extra: Double(extraDelayFrameCount) / sampleRate)
    }
}

extension Loopback {
    /// The duration of a probe in seconds.
    package var probeDuration: Double { LoopbackState.settling + Double(captureLength) / sampleRate }

    /// Starts a measurement: the sound fades out, a sweep at −20 dB of full scale is played on all outputs, and the input is
    /// recorded. Then the sound returns. Does nothing while a probe runs.
    public func startProbe() {
        let controls = memory.controls
        guard controls.pointee.outcome.load(ordering: .acquiring) != LoopbackControls.Outcome.running else { return }
        drain()
        controls.pointee.outcome.store(LoopbackControls.Outcome.running, ordering: .relaxed)
        controls.pointee.requests.wrappingAdd(1, ordering: .releasing)
    }

    /// Returns the probe's result once; nil while it runs and if none was started.
    /// - Throws: ``RoundTripError/interrupted``.
    public func takeProbe() throws(RoundTripError) -> ProbeCapture? {
        let controls = memory.controls
        let outcome = controls.pointee.outcome.load(ordering: .acquiring)
        guard outcome == LoopbackControls.Outcome.captured || outcome == LoopbackControls.Outcome.interrupted else {
            return nil
        }
        let captured = drain()
        controls.pointee.outcome.store(LoopbackControls.Outcome.none, ordering: .relaxed)
        guard outcome == LoopbackControls.Outcome.captured, captured[0].count == captureLength else {
            throw .interrupted
        }
        let time = controls.pointee.probeSampleTime.load(ordering: .relaxed)
        return ProbeCapture(
            probe: Array(UnsafeBufferPointer(start: probe.channels[0], count: probe.frameCapacity)),
            probeSampleTime: time, captured: captured, capturedSampleTime: time, sampleRate: sampleRate)
    }

    @discardableResult
    private func drain() -> [[Float]] {
        let block = AudioBuffer(channelCount: ring.channelCount, frameCapacity: 4_096)
        var samples = [[Float]](repeating: [], count: ring.channelCount)
        while true {
            let count = ring.reader.read(block.channels, frameCount: block.frameCapacity).frameCount
            guard count > 0 else { return samples }
            for c in samples.indices {
                samples[c].append(contentsOf: UnsafeBufferPointer(start: block.channels[c], count: count))
            }
        }
    }
}
