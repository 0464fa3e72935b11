// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import EarshotAudioBase
import Synchronization

/// An open device on the server: a filter with a port for each channel, and its links to the ports of a source and a sink.
/// All members are for use under the loop's lock, unless documented otherwise.
final class PipeWireClient: @unchecked Sendable {  // what is not `let` is touched under the loop's lock
    /// A device to link, by its node's number on the server.
    struct Target {
        var node: UInt32
        /// The device's name, as shown to users.
        var name: String
    }

    let hub: PipeWireHub
    let request: AudioDeviceRequest
    let memory: PipeWireMemory
    let input: Target?
    let output: Target?
    private(set) var connection: PipeWireConnection?
    private(set) var filter: OpaquePointer?
    private var hooks: [PipeWireHook<pw_filter_events>] = []
    var links: [Pair: Link] = [:]
    var portLatencies: [UnsafeMutableRawPointer: PipeWireGraph.Delay] = [:]
    private let trouble = Mutex<AudioDeviceError?>(nil)
    private let refusal = Mutex<Refusal?>(nil)

    struct Pair: Hashable {
        var from: PipeWireGraph.Port
        var to: PipeWireGraph.Port
    }

    struct Link {
        /// The watched link on the server; nil if the link could not be requested.
        var proxy: PipeWireProxy?
        var state = PW_LINK_STATE_INIT
    }

    /// A failed link.
    private struct Refusal {
        /// The name of the device's port, as in `pw-link`.
        var port: String
        var since = HostTime.now()
    }

    /// Connects to the server. ``open(rate:)`` then makes the filter and its links.
    init(_ hub: PipeWireHub, _ request: AudioDeviceRequest, input: Target?, output: Target?) throws(AudioDeviceError) {
        self.hub = hub
        self.request = request
        self.input = input
        self.output = output
        let inputCount = input == nil ? 0 : request.inputChannelCount
        let outputCount = output == nil ? 0 : request.outputChannelCount
        let connection = try PipeWireConnection(
            hub.loop, remote: hub.remote, properties: [PW_KEY_APP_NAME: request.clientName])
        self.connection = connection
        memory = PipeWireMemory(inputCount: inputCount, outputCount: outputCount)
        connection.onGone = { [unowned self] reason in fail(.serverGone(.pipewire, reason: reason)) }
        hub.addUser()
        hub.add(self)
    }

    /// Removes the filter and the connection, and frees the memory. No other call may follow.
    func close() {
        removeFilter()
        connection?.close()
        connection = nil
        hub.remove(self)
        hub.removeUser()
        memory.deallocate()
    }

    /// The reason that the client does not run; nil if it does. Any thread.
    ///
    /// A link's error is reported after 100 ms: when a device is removed, its links may fail before the server reports the
    /// removal.
    var failure: AudioDeviceError? {
        if let error = trouble.withLock({ $0 }) { return error }
        guard let refusal = refusal.withLock({ $0 }), HostTime.now().seconds(since: refusal.since) > 0.1 else {
            return nil
        }
        return .portFailed(name: refusal.port)
    }

    /// Notes a failed link, or that none has failed any longer. Call it after a change of ``links``.
    func noteRefusal() {
        let pair = links.first { $0.value.state == PW_LINK_STATE_ERROR }?.key
        refusal.withLock { refusal in
            guard let pair else { return refusal = nil }
            guard refusal == nil else { return }
            let port = [input?.node, output?.node].contains(pair.from.node) ? pair.from : pair.to
            refusal = Refusal(port: "\(hub.graph.nodes[port.node]?[PW_KEY_NODE_NAME] ?? name):\(port.name)")
        }
    }

    /// Fails the client, so that no callbacks follow. Only the first reason is kept.
    func fail(_ error: AudioDeviceError) {
        trouble.withLock { if $0 == nil { $0 = error } }
        memory.state.pointee.hasFailed.store(true, ordering: .releasing)
    }

    /// The display name of the linked devices.
    var name: String {
        switch (input?.name, output?.name) {
        case (let input?, let output?): input == output ? input : "\(input), \(output)"
        case (let input?, nil): input
        case (nil, let output?): output
        case (nil, nil): request.clientName
        }
    }

    var hasFilter: Bool { filter != nil }

    /// Creates the filter, which asks for this rate in hertz, and waits until it is linked and the graph runs it. Then the
    /// graph's rate and quantum are known.
    func open(rate: Double) throws(AudioDeviceError) {
        let cyclesBefore = memory.state.pointee.cycleCount.load(ordering: .relaxed)
        do throws(AudioDeviceError) {
            try makeFilter(rate: rate)
            // After linking, a device may take time to wake up.
            let isComplete =
                hub.loop.wait(seconds: 1) { failure != nil || isLinked }
                || !links.isEmpty && hub.loop.wait(seconds: 2) { failure != nil || isLinked }
            if let failure { throw failure }
            guard isComplete else { throw .stalled(device: name, seconds: links.isEmpty ? 1 : 3) }
            // A cycle that began before the filter was linked may still run, so two more cycles are awaited.
            let cyclesAtLinking = memory.state.pointee.cycleCount.load(ordering: .relaxed)
            let runs = hub.loop.wait(seconds: 1) {
                failure != nil || memory.state.pointee.cycleCount.load(ordering: .acquiring) >= cyclesAtLinking + 2
            }
            if let failure { throw failure }
            guard runs || memory.state.pointee.cycleCount.load(ordering: .relaxed) > cyclesBefore else {
                throw .stalled(device: name, seconds: 1)
            }
        } catch {
            removeFilter()
            throw error
        }
    }

    private func makeFilter(rate: Double) throws(AudioDeviceError) {
        guard let connection else { throw .serverGone(.pipewire, reason: "") }
        let category =
            switch (input == nil, output == nil) {
            case (true, false): "Playback"
            case (false, true): "Capture"
            default: "Duplex"
            }
        var properties = [
            PW_KEY_NODE_NAME: request.clientName, PW_KEY_MEDIA_TYPE: "Audio", PW_KEY_MEDIA_CATEGORY: category,
            PW_KEY_MEDIA_ROLE: "Communication", PW_KEY_NODE_ALWAYS_PROCESS: "true",
            PW_KEY_NODE_LATENCY: "\(request.wantedBlock(at: rate))/\(Int(rate))", PW_KEY_NODE_RATE: "1/\(Int(rate))",
        ]
        if request.isExclusive { properties[PW_KEY_NODE_EXCLUSIVE] = "true" }
        guard let filter = pw_filter_new(connection.core, request.clientName, pipeWireProperties(properties)) else {
            throw .callFailed(.pipewire, call: "pw_filter_new", code: Int(earshot_pw_errno()))
        }
        self.filter = filter
        memory.state.pointee.isFollowing = false
        memory.state.pointee.seeminglyLost = 0
        // Two listeners, since the data thread's function gets the state's memory, and the loop's function gets this object.
        var events = pw_filter_events()
        events.version = UInt32(PW_VERSION_FILTER_EVENTS)
        events.process = pipeWireProcess
        let cycles = PipeWireHook(events)
        pw_filter_add_listener(filter, cycles.hook, cycles.events, memory.state)
        events.process = nil
        events.param_changed = pipeWireParameter
        let clientHook = PipeWireHook(events)
        pw_filter_add_listener(filter, clientHook.hook, clientHook.events, Unmanaged.passUnretained(self).toOpaque())
        hooks = [cycles, clientHook]
        try addPorts(to: filter)
        let flags = pw_filter_flags(PW_FILTER_FLAG_RT_PROCESS.rawValue | PW_FILTER_FLAG_CUSTOM_LATENCY.rawValue)
        let code = pw_filter_connect(filter, flags, nil, 0)
        guard code >= 0 else { throw .callFailed(.pipewire, call: "pw_filter_connect", code: Int(-code)) }
    }

    private func addPorts(to filter: OpaquePointer) throws(AudioDeviceError) {
        let state = memory.state
        for i in 0..<state.pointee.inputCount {
            state.pointee.inputPorts[i] = try addPort(to: filter, SPA_DIRECTION_INPUT, Self.inputPortName(i))
        }
        for i in 0..<state.pointee.outputCount {
            state.pointee.outputPorts[i] = try addPort(to: filter, SPA_DIRECTION_OUTPUT, Self.outputPortName(i))
        }
    }

    private func addPort(
        to filter: OpaquePointer, _ direction: spa_direction, _ name: String
    ) throws(AudioDeviceError) -> UnsafeMutableRawPointer {
        let properties = pipeWireProperties([PW_KEY_FORMAT_DSP: "32 bit float mono audio", PW_KEY_PORT_NAME: name])
        let port = pw_filter_add_port(filter, direction, PW_FILTER_PORT_FLAG_MAP_BUFFERS, 8, properties, nil, 0)
        guard let port else { throw .portFailed(name: name) }
        return port
    }

    /// Removes the filter and its links. No cycle runs when it returns, and none will come.
    ///
    /// The filter is removed first: without links the server would move it to another driver, whose descriptors would arrive
    /// after the filter's removal and stay open (libpipewire before 0.3.66).
    func removeFilter() {
        if let filter { pw_filter_destroy(filter) }
        filter = nil
        hooks = []
        for link in links.values { link.proxy?.destroy() }
        links = [:]
        noteRefusal()
        portLatencies = [:]
    }

    static func inputPortName(_ index: Int) -> String { "input_\(index + 1)" }
    static func outputPortName(_ index: Int) -> String { "output_\(index + 1)" }
}

// Called on the loop's thread; the argument is the client.
private func pipeWireParameter(
    _ data: UnsafeMutableRawPointer?, _ port: UnsafeMutableRawPointer?, _ id: UInt32, _ value: UnsafePointer<spa_pod>?
) {
    guard let data, let port, let value, id == SPA_PARAM_Latency.rawValue else { return }
    var latency = spa_latency_info()
    guard spa_latency_parse(value, &latency) >= 0 else { return }
    Unmanaged<PipeWireClient>.fromOpaque(data).takeUnretainedValue().setLatency(latency, of: port)
}
