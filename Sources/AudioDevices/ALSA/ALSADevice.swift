// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import CEarshotRealtime
import EarshotAudioBase
import Foundation
import Synchronization

/// A sound card without a server, or another PCM of ALSA's configuration. A thread at SCHED_FIFO priority 70 reads a block, runs
/// the callback and writes a block.
///
/// ``ALSASystem`` opens it. Capture and playback are linked if the driver supports that. After an xrun both streams start again,
/// and `sampleTime` jumps by the frames that were lost according to the machine's clock. A card without frames for a second fails
/// as ``AudioDeviceError/stalled(device:seconds:)``, an unplugged card as ``AudioDeviceError/deviceGone(name:)``.
package final class ALSADevice: AudioDevice {
    /// The names of the opened cards or PCMs, joined by " + " if they differ.
    package let name: String
    /// The sample rate in hertz to which the card was set.
    package let sampleRate: Double
    /// The frames of a block: the requested number, or the nearest that the card supports.
    package let blockFrameCount: Int
    /// The number of buffers in each cycle's `input`, independent of the card's channels.
    package let inputChannelCount: Int
    /// The number of buffers in each cycle's `output`, independent of the card's channels.
    package let outputChannelCount: Int
    /// The card's best sample type; the output's if the directions differ.
    package let sampleType: SampleType
    /// Records the callbacks' times, and the card's xruns.
    package let monitor: CallbackMonitor

    private let memory: ALSAMemory
    private let pcms: [ALSAPCM]
    private let buffers: [AudioBuffer]
    private let thread = Mutex<pthread_t?>(nil)

    /// Opens and configures the PCMs without starting them.
    /// - Parameters:
    ///   - capture: the PCM to read from, if any.
    ///   - playback: the PCM to write to, if any.
    ///   - request: a validated request; its sides are ignored.
    ///   - periodCount: the number of blocks in a card's buffers, at least 2.
    ///   - sampleTypes: the sample types to try; the first that the card supports is used.
    init(
        name: String, capture: String?, playback: String?, request: AudioDeviceRequest, periodCount: Int = 2,
        sampleTypes: [SampleType] = SampleType.alsaPreference
    ) throws(AudioDeviceError) {
        let inputCount = capture == nil ? 0 : request.inputChannelCount
        let outputCount = playback == nil ? 0 : request.outputChannelCount
        guard inputCount + outputCount > 0 else {
            throw .unsupportedFormat(detail: "no input and no output channels")
        }
        // Without a channel map, a single output is played on the card's first two channels.
        let inputMap = request.inputChannelMap ?? Array(0..<inputCount)
        let outputMap = request.outputChannelMap ?? Array(0..<outputCount)
        let isForBothEars = request.outputChannelMap == nil && outputCount == 1
        var source: ALSAPCM?
        var sink: ALSAPCM?
        if let capture, inputCount > 0 { source = try ALSAPCM(capture, .input) }
        if let playback, outputCount > 0 { sink = try ALSAPCM(playback, .output) }
        let grant = try ALSAGrant(
            capture: source, playback: sink,
            ALSAGrant.Request(
                sampleTypes: sampleTypes, sampleRate: request.sampleRate, blockFrameCount: request.wantedBlock,
                captureChannelCount: (inputMap.max() ?? 0) + 1,
                playbackChannelCount: isForBothEars ? 2 : (outputMap.max() ?? 0) + 1, periodCount: periodCount))
        let monitor = request.monitor ?? CallbackMonitor(sampleRate: grant.sampleRate)
        let input = AudioBuffer(channelCount: max(1, inputCount), frameCapacity: grant.blockFrameCount)
        let output = AudioBuffer(channelCount: max(1, outputCount), frameCapacity: grant.blockFrameCount)
        var isLinked = false
        if let source, let sink { isLinked = snd_pcm_link(source.handle, sink.handle) == 0 }
        let stopDescriptor = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
        guard stopDescriptor >= 0 else { throw .callFailed(.alsa, call: "eventfd", code: Int(errno)) }
        let playbackMap = (0..<(grant.playback?.channelCount ?? 0)).map { channel in
            isForBothEars ? (channel < 2 ? 0 : -1) : outputMap.firstIndex(of: channel) ?? -1
        }
        let state = UnsafeMutablePointer<ALSAState>.allocate(capacity: 1)
        state.initialize(
            to: ALSAState(
                sampleRate: grant.sampleRate, blockFrameCount: grant.blockFrameCount,
                capture: grant.capture.map { Self.stream($0, block: grant.blockFrameCount, map: inputMap) },
                playback: grant.playback.map { Self.stream($0, block: grant.blockFrameCount, map: playbackMap) },
                isLinked: isLinked, input: Channels(input.channels.pointers, count: inputCount),
                output: Channels(output.channels.pointers, count: outputCount),
                recorder: monitor.recorder(sampleRate: grant.sampleRate),
                mixInto: Self.copy(Self.mixTargets(outputMap)),
                descriptors: .allocate(capacity: ALSAState.descriptorCapacity), stopDescriptor: stopDescriptor,
                fillFrameCount: Atomic(grant.fillFrameCount), loop: DelayLockedLoop(sampleRate: grant.sampleRate),
                wakeFrameCount: grant.blockFrameCount))
        self.name = name
        sampleRate = grant.sampleRate
        blockFrameCount = grant.blockFrameCount
        inputChannelCount = inputCount
        outputChannelCount = outputCount
        sampleType = grant.playback?.sampleType ?? grant.capture?.sampleType ?? .float32
        self.monitor = monitor
        memory = ALSAMemory(state: state)
        pcms = [source, sink].compactMap { $0 }
        buffers = [input, output]
    }

    deinit {
        stop()
        memory.deallocate()
    }

    /// The seconds of one block, plus the driver's delay before ALSA's buffer (`snd_pcm_delay` minus the frames in the buffer).
    package var inputLatency: Double {
        Double(blockFrameCount + memory.state.pointee.inputExtra.load(ordering: .relaxed)) / sampleRate
    }
    /// The seconds that a rendered block waits in ALSA's buffer, plus the driver's delay after that buffer.
    package var outputLatency: Double {
        let state = memory.state
        let waiting = state.pointee.fillFrameCount.load(ordering: .relaxed) - blockFrameCount
        return Double(waiting + state.pointee.outputExtra.load(ordering: .relaxed)) / sampleRate
    }

    /// 70 while the device runs; nil while it does not, or if real-time scheduling was denied.
    package var realTimePriority: Int? {
        memory.state.pointee.phase.load(ordering: .acquiring) == ALSAState.Phase.realTime ? ALSALoop.priority : nil
    }

    /// The failure after the card was unplugged, stalled, or failed in a way that a restart does not repair; nil while it works.
    package var failure: AudioDeviceError? {
        let code = memory.state.pointee.failureCode.load(ordering: .acquiring)
        guard code != 0 else { return nil }
        let call = ALSACall(rawValue: memory.state.pointee.failureCall.load(ordering: .relaxed)) ?? .wait
        return .alsa(CInt(truncatingIfNeeded: code), call: call.name, device: name)
    }

    /// Starts the device's thread and waits until it has started the streams.
    /// - Throws: ``AudioDeviceError/alreadyRunning``, ``AudioDeviceError/noThread(code:)``, and ``failure``.
    package func start(_ callback: RenderCallback) throws(AudioDeviceError) {
        if let failure { throw failure }
        let memory = memory
        let error = thread.withLock { thread -> AudioDeviceError? in
            guard thread == nil else { return .alreadyRunning }
            let state = memory.state
            state.pointee.callback = callback
            state.pointee.hasRun = false
            state.pointee.isAfterGap = false
            state.pointee.recoveryCount = 0
            state.pointee.loop = DelayLockedLoop(sampleRate: state.pointee.sampleRate)
            var count: eventfd_t = 0
            eventfd_read(state.pointee.stopDescriptor, &count)
            state.pointee.phase.store(ALSAState.Phase.starting, ordering: .releasing)
            var new = pthread_t()
            let code = earshot_start_thread(&new, runALSADevice, state)
            guard code == 0 else { return .noThread(code: Int(code)) }
            thread = new
            return nil
        }
        if let error { throw error }
        while memory.state.pointee.phase.load(ordering: .acquiring) == ALSAState.Phase.starting {
            earshot_sleep_until_ns(earshot_monotonic_ns() + 100_000)
        }
        if let failure {
            stop()
            throw failure
        }
    }

    /// Ends the thread after the running cycle, or at once while it waits for the card.
    package func stop() {
        let memory = memory
        thread.withLock { thread in
            guard let running = thread else { return }
            memory.state.pointee.phase.store(ALSAState.Phase.stopping, ordering: .releasing)
            earshot_wake(memory.state.pointee.stopDescriptor)
            pthread_join(running, nil)
            thread = nil
        }
    }

    private static func stream(_ side: ALSAGrant.Side, block: Int, map: [Int]) -> ALSAStream {
        let frameByteCount = side.channelCount * side.sampleType.byteCount
        return ALSAStream(
            handle: side.pcm.handle, sampleType: side.sampleType, channelCount: side.channelCount,
            bufferFrameCount: side.bufferFrameCount, frameByteCount: frameByteCount,
            bytes: .allocate(byteCount: block * frameByteCount, alignment: 64), map: copy(map))
    }

    /// Returns, for each of the cycle's outputs, the first output that is mapped to the same channel of the device; −1 for that
    /// first output itself.
    private static func mixTargets(_ map: [Int]) -> [Int] {
        map.enumerated().map { i, channel in
            let first = map.firstIndex(of: channel) ?? i
            return first < i ? first : -1
        }
    }

    private static func copy(_ numbers: [Int]) -> UnsafeMutablePointer<Int> {
        let memory = UnsafeMutablePointer<Int>.allocate(capacity: max(1, numbers.count))
        for (i, number) in numbers.enumerated() { (memory + i).initialize(to: number) }
        return memory
    }
}

private func runALSADevice(_ state: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let state { ALSALoop(state: state.assumingMemoryBound(to: ALSAState.self)).run() }
    return nil
}
