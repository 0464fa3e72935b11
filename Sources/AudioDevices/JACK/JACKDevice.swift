import AudioBase
import CJACK
import CRealtime
import Synchronization

/// A client of a running JACK server, or of PipeWire where `pw-jack` started the program.
///
/// Its ports are `input_1`, `input_2`… and `output_1`…. It never starts a server. When a cycle was due comes
/// from a delay-locked loop of our own, over the instants at which callbacks begin. After a gap in the server's cycle times
/// (an xrun, or cycles in which this client was left out) `sampleTime` jumps by the frames that the gap lasted.
public final class JACKDevice: AudioDevice {
    /// The client's name on the server, made unique by it.
    public let name: String
    /// The server's rate when the client was opened.
    public let sampleRate: Double
    /// Capture ports.
    public let inputChannelCount: Int
    /// Playback ports.
    public let outputChannelCount: Int
    /// Each call's time, and the server's xruns.
    public let monitor: CallbackMonitor

    private let memory: JACKMemory
    private let isRunning = Mutex(false)

    /// Opens a client and registers its ports. All of a process's clients are on one server.
    /// - Parameters:
    ///   - name: what others see, shorter than 64 bytes.
    ///   - serverName: nil for `JACK_DEFAULT_SERVER`'s or the default server.
    ///   - inputChannelCount: 0 to 32.
    ///   - outputChannelCount: 0 to 32.
    /// - Throws: ``AudioDeviceError/noServer(_:server:onPipeWire:)``, ``AudioDeviceError/refused(_:status:)``,
    ///   ``AudioDeviceError/otherServer(open:asked:)``, ``AudioDeviceError/portFailed(name:)``,
    ///   ``AudioDeviceError/unsupportedFormat(detail:)``.
    public init(
        name: String, serverName: String? = nil, inputChannelCount: Int, outputChannelCount: Int
    ) throws(AudioDeviceError) {
        let counts = 0...AudioFormat.channelCounts.upperBound
        guard counts.contains(inputChannelCount), counts.contains(outputChannelCount) else {
            throw .unsupportedFormat(
                detail: "\(inputChannelCount) inputs, \(outputChannelCount) outputs; use 0 to \(counts.upperBound)")
        }
        let client = try JACKProcess.open(name, serverName)
        let sampleRate = Double(jack_get_sample_rate(client))
        let monitor = CallbackMonitor(sampleRate: sampleRate)
        let memory: JACKMemory
        do {
            memory = try JACKMemory(
                client: client, sampleRate: sampleRate, recorder: monitor.recorder(sampleRate: sampleRate),
                inputCount: inputChannelCount,
                outputCount: outputChannelCount)
        } catch {
            JACKProcess.close(client)
            throw error
        }
        self.name = String(cString: jack_get_client_name(client))
        self.sampleRate = sampleRate
        self.inputChannelCount = inputChannelCount
        self.outputChannelCount = outputChannelCount
        self.monitor = monitor
        self.memory = memory
    }

    deinit {
        stop()
        JACKProcess.close(memory.client)
        memory.deallocate()
    }

    /// Frames that the server now calls with.
    public var blockFrameCount: Int { memory.state.pointee.blockFrameCount.load(ordering: .relaxed) }
    /// Of the longest way to an input port; one block while none is connected.
    public var inputLatency: Double { memory.state.pointee.inputLatency / sampleRate }
    /// Of the longest way from an output port; one block while none is connected.
    public var outputLatency: Double { memory.state.pointee.outputLatency / sampleRate }

    /// The server's, or nil where it does not run in real time.
    public var realTimePriority: Int? {
        let priority = Int(jack_client_real_time_priority(memory.client))
        return priority > 0 ? priority : nil
    }

    /// That the server is gone, or has changed its rate.
    public var failure: AudioDeviceError? {
        let state = memory.state
        if state.pointee.isShutDown.load(ordering: .acquiring) {
            return .serverGone(.jack, reason: state.pointee.shutdownReason)
        }
        let rate = Double(state.pointee.newSampleRate.load(ordering: .relaxed))
        return rate == sampleRate ? nil : .sampleRateChanged(from: sampleRate, to: rate)
    }

    /// - Throws: ``AudioDeviceError/alreadyRunning``, what ``failure`` says, ``AudioDeviceError/callFailed(_:call:code:)``.
    public func start(_ callback: RenderCallback) throws(AudioDeviceError) {
        if let failure { throw failure }
        let memory = memory
        let error = isRunning.withLock { isRunning -> AudioDeviceError? in
            guard !isRunning else { return .alreadyRunning }
            memory.state.pointee.callback = callback
            memory.state.pointee.isFirstCycle = true
            let code = jack_activate(memory.client)
            guard code == 0 else { return .callFailed(.jack, call: "jack_activate", code: Int(code)) }
            isRunning = true
            return nil
        }
        if let error { throw error }
    }

    /// Leaves the server's graph, which takes the ports' connections along.
    public func stop() {
        let memory = memory
        isRunning.withLock { isRunning in
            guard isRunning else { return }
            if !memory.state.pointee.isShutDown.load(ordering: .acquiring) { jack_deactivate(memory.client) }
            isRunning = false
        }
    }

    /// Connects, while running, each input port to the hardware's capture port of the same number and each output port to
    /// the playback port; a lone output goes to the first two, so that it is heard in both ears. Numbers that the
    /// hardware does not have stay unconnected.
    /// - Throws: ``AudioDeviceError/portFailed(name:)``, and what ``failure`` says.
    public func connectToSystemPorts() throws(AudioDeviceError) {
        if let failure { throw failure }
        let captures = physicalPorts(JackPortIsOutput)
        for (i, capture) in captures.prefix(inputChannelCount).enumerated() {
            try connect(capture, "\(name):\(Self.inputPortName(i))")
        }
        let playbacks = physicalPorts(JackPortIsInput)
        for (i, playback) in playbacks.prefix(outputChannelCount == 1 ? 2 : outputChannelCount).enumerated() {
            try connect("\(name):\(Self.outputPortName(min(i, outputChannelCount - 1)))", playback)
        }
    }

    private func physicalPorts(_ direction: JackPortFlags) -> [String] {
        let flags = UInt(JackPortIsPhysical.rawValue | direction.rawValue)
        guard let list = jack_get_ports(memory.client, nil, JACK_DEFAULT_AUDIO_TYPE, flags) else { return [] }
        defer { jack_free(list) }
        var names: [String] = []
        while let port = list[names.count] { names.append(String(cString: port)) }
        return names
    }

    private func connect(_ from: String, _ to: String) throws(AudioDeviceError) {
        let code = jack_connect(memory.client, from, to)
        guard code == 0 || code == EEXIST else { throw .portFailed(name: to) }
    }

    static func inputPortName(_ index: Int) -> String { "input_\(index + 1)" }
    static func outputPortName(_ index: Int) -> String { "output_\(index + 1)" }
}
