// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

/// A watched object of the server: a node, a port, a device, metadata, or a link that this process made. Under the loop's lock.
final class PipeWireProxy {
    let proxy: UnsafeMutableRawPointer
    private var removals: [() -> Void] = []
    private let onProperties: ([String: String]) -> Void
    private let onEntry: (String?, String?) -> Void
    private let onState: (pw_link_state) -> Void
    private let onVolumes: (PipeWireStreams.Volumes) -> Void
    private let onLatency: (spa_latency_info) -> Void
    private let onCardUpdate: (PipeWireGraph.CardUpdate) -> Void
    /// The flags with which a device's parameters were last reported; they change whenever a parameter does.
    private var parameterFlags: [PipeWireGraph.CardParameter: UInt32] = [:]
    /// The numbers of the latest requests for a device's parameters. Answers to earlier requests are out of date.
    private var requests: [PipeWireGraph.CardParameter: CInt] = [:]

    private init(
        _ proxy: UnsafeMutableRawPointer, onProperties: @escaping ([String: String]) -> Void = { _ in },
        onEntry: @escaping (String?, String?) -> Void = { _, _ in },
        onState: @escaping (pw_link_state) -> Void = { _ in },
        onVolumes: @escaping (PipeWireStreams.Volumes) -> Void = { _ in },
        onLatency: @escaping (spa_latency_info) -> Void = { _ in },
        onCardUpdate: @escaping (PipeWireGraph.CardUpdate) -> Void = { _ in }
    ) {
        self.proxy = proxy
        self.onProperties = onProperties
        self.onEntry = onEntry
        self.onState = onState
        self.onVolumes = onVolumes
        self.onLatency = onLatency
        self.onCardUpdate = onCardUpdate
    }

    private var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Stops watching the object. If the object is a link, it is removed.
    func destroy() {
        for removal in removals { removal() }
        earshot_pw_destroy(proxy)
    }

    private static func bind(_ registry: OpaquePointer, _ id: UInt32, _ type: String, _ version: CInt)
        -> UnsafeMutableRawPointer?
    {
        pw_registry_bind(registry, id, type, UInt32(version), 0)
    }

    /// Returns a watch that reports a node's properties, and with `readsVolume` its volumes, at once and at each change; nil if
    /// the node cannot be watched.
    static func node(
        _ registry: OpaquePointer, _ id: UInt32, readsVolume: Bool,
        _ onProperties: @escaping ([String: String]) -> Void,
        onVolumes: @escaping (PipeWireStreams.Volumes) -> Void
    ) -> PipeWireProxy? {
        guard let proxy = bind(registry, id, PipeWireType.node, PW_VERSION_NODE) else { return nil }
        let watch = PipeWireProxy(proxy, onProperties: onProperties, onVolumes: onVolumes)
        var events = pw_node_events()
        events.version = UInt32(PW_VERSION_NODE_EVENTS)
        events.info = pipeWireNodeInfo
        if readsVolume { events.param = pipeWireStreamParameter }
        let hook = PipeWireHook(events)
        watch.removals.append { hook.remove() }
        earshot_pw_listen_node(proxy, hook.hook, hook.events, watch.pointer)
        if readsVolume { earshot_pw_watch_properties(proxy) }
        return watch
    }

    /// Returns a watch that reports a stream's volumes, at once and when they are set; nil if the stream cannot be watched.
    static func stream(
        _ registry: OpaquePointer, _ id: UInt32, _ onVolumes: @escaping (PipeWireStreams.Volumes) -> Void
    ) -> PipeWireProxy? {
        guard let proxy = bind(registry, id, PipeWireType.node, PW_VERSION_NODE) else { return nil }
        let watch = PipeWireProxy(proxy, onVolumes: onVolumes)
        var events = pw_node_events()
        events.version = UInt32(PW_VERSION_NODE_EVENTS)
        events.param = pipeWireStreamParameter
        let hook = PipeWireHook(events)
        watch.removals.append { hook.remove() }
        earshot_pw_listen_node(proxy, hook.hook, hook.events, watch.pointer)
        earshot_pw_watch_properties(proxy)
        return watch
    }

    /// Returns a watch that reports a port's latencies in both directions, at once and at each change; nil if the port cannot be
    /// watched.
    static func port(
        _ registry: OpaquePointer, _ id: UInt32, _ onLatency: @escaping (spa_latency_info) -> Void
    ) -> PipeWireProxy? {
        guard let proxy = bind(registry, id, PipeWireType.port, PW_VERSION_PORT) else { return nil }
        let watch = PipeWireProxy(proxy, onLatency: onLatency)
        var events = pw_port_events()
        events.version = UInt32(PW_VERSION_PORT_EVENTS)
        events.param = pipeWirePortParameter
        let hook = PipeWireHook(events)
        watch.removals.append { hook.remove() }
        earshot_pw_listen_port(proxy, hook.hook, hook.events, watch.pointer)
        earshot_pw_watch_latency(proxy)
        return watch
    }

    /// Returns a watch that reports a device's properties, its routes and its profiles, at once and at each change; nil if the
    /// device cannot be watched.
    static func device(
        _ registry: OpaquePointer, _ id: UInt32, _ onProperties: @escaping ([String: String]) -> Void,
        onCardUpdate: @escaping (PipeWireGraph.CardUpdate) -> Void
    ) -> PipeWireProxy? {
        guard let proxy = bind(registry, id, PipeWireType.device, PW_VERSION_DEVICE) else { return nil }
        let watch = PipeWireProxy(proxy, onProperties: onProperties, onCardUpdate: onCardUpdate)
        var events = pw_device_events()
        events.version = UInt32(PW_VERSION_DEVICE_EVENTS)
        events.info = pipeWireDeviceInfo
        events.param = pipeWireDeviceParameter
        let hook = PipeWireHook(events)
        watch.removals.append { hook.remove() }
        earshot_pw_listen_device(proxy, hook.hook, hook.events, watch.pointer)
        return watch
    }

    /// Reports the metadata of the whole graph (subject 0) as key and value; a nil value for a removed entry, a nil key if all
    /// were removed.
    static func metadata(
        _ registry: OpaquePointer, _ id: UInt32, _ onEntry: @escaping (String?, String?) -> Void
    ) -> PipeWireProxy? {
        guard let proxy = bind(registry, id, PipeWireType.metadata, PW_VERSION_METADATA) else { return nil }
        let watch = PipeWireProxy(proxy, onEntry: onEntry)
        var events = pw_metadata_events()
        events.version = UInt32(PW_VERSION_METADATA_EVENTS)
        events.property = pipeWireMetadata
        let hook = PipeWireHook(events)
        watch.removals.append { hook.remove() }
        earshot_pw_listen_metadata(proxy, hook.hook, hook.events, watch.pointer)
        return watch
    }

    /// Links an output port to an input port, and returns a watch that reports the link's state. The link exists until the watch
    /// is destroyed. nil if the link cannot be requested.
    static func link(
        _ core: OpaquePointer, from output: PipeWireGraph.Port, to input: PipeWireGraph.Port,
        _ onState: @escaping (pw_link_state) -> Void
    ) -> PipeWireProxy? {
        let properties = [
            PW_KEY_LINK_OUTPUT_NODE: "\(output.node)", PW_KEY_LINK_OUTPUT_PORT: "\(output.id)",
            PW_KEY_LINK_INPUT_NODE: "\(input.node)", PW_KEY_LINK_INPUT_PORT: "\(input.id)",
        ]
        let made = withPipeWireDictionary(properties) {
            earshot_pw_create(core, "link-factory", PipeWireType.link, UInt32(PW_VERSION_LINK), $0)
        }
        guard let proxy = made ?? nil else { return nil }
        let watch = PipeWireProxy(proxy, onState: onState)
        var events = pw_link_events()
        events.version = UInt32(PW_VERSION_LINK_EVENTS)
        events.info = pipeWireLinkInfo
        let hook = PipeWireHook(events)
        var proxyEvents = pw_proxy_events()
        proxyEvents.version = UInt32(PW_VERSION_PROXY_EVENTS)
        proxyEvents.error = pipeWireLinkError
        let proxyHook = PipeWireHook(proxyEvents)
        watch.removals += [{ hook.remove() }, { proxyHook.remove() }]
        earshot_pw_listen_link(proxy, hook.hook, hook.events, watch.pointer)
        pw_proxy_add_listener(OpaquePointer(proxy), proxyHook.hook, proxyHook.events, watch.pointer)
        return watch
    }

    fileprivate func notify(_ properties: [String: String]) { onProperties(properties) }
    fileprivate func notify(_ key: String?, _ value: String?) { onEntry(key, value) }
    fileprivate func notify(_ state: pw_link_state) { onState(state) }
    fileprivate func notify(_ volumes: PipeWireStreams.Volumes) { onVolumes(volumes) }
    fileprivate func notify(_ latency: spa_latency_info) { onLatency(latency) }

    /// Requests the parameters that have changed. The server sends neither the values nor the end of a list by itself.
    ///
    /// The request precedes the update: the update's observer sends a sync, whose answer must come after the values.
    fileprivate func readChangedParameters(_ parameters: UnsafeBufferPointer<spa_param_info>) {
        for parameter in PipeWireGraph.CardParameter.allCases {
            let info = parameters.first { $0.id == parameter.id }
            guard parameterFlags[parameter] != info?.flags else { continue }
            parameterFlags[parameter] = info?.flags
            let isReadable = (info?.flags ?? 0) & UInt32(SPA_PARAM_INFO_READ) != 0
            requests[parameter] = isReadable ? earshot_pw_read_parameter(proxy, parameter.id) : nil
            onCardUpdate(.list(parameter))
        }
    }

    fileprivate func notify(_ id: UInt32, request: CInt, _ value: UnsafePointer<spa_pod>) {
        guard let parameter = PipeWireGraph.CardParameter.allCases.first(where: { $0.id == id }),
            requests[parameter] == request, let update = parameter.update(value)
        else { return }
        onCardUpdate(update)
    }
}

/// The types of a server's objects, as its registry names them.
enum PipeWireType {
    static let node = "PipeWire:Interface:Node"
    static let port = "PipeWire:Interface:Port"
    static let device = "PipeWire:Interface:Device"
    static let client = "PipeWire:Interface:Client"
    static let metadata = "PipeWire:Interface:Metadata"
    static let link = "PipeWire:Interface:Link"
}

// The functions below are called on the loop's thread; `data` is the watch.

private func watch(_ data: UnsafeMutableRawPointer?) -> PipeWireProxy? {
    data.map { Unmanaged<PipeWireProxy>.fromOpaque($0).takeUnretainedValue() }
}

private func pipeWireNodeInfo(_ data: UnsafeMutableRawPointer?, _ info: UnsafePointer<pw_node_info>?) {
    guard let info, info.pointee.change_mask & UInt64(PW_NODE_CHANGE_MASK_PROPS) != 0 else { return }
    watch(data)?.notify(pipeWireEntries(info.pointee.props))
}

private func pipeWireStreamParameter(
    _ data: UnsafeMutableRawPointer?, _ number: CInt, _ id: UInt32, _ index: UInt32, _ next: UInt32,
    _ value: UnsafePointer<spa_pod>?
) {
    guard let value, id == SPA_PARAM_Props.rawValue else { return }
    func floats(_ key: spa_prop) -> [Float] {
        [Float](unsafeUninitializedCapacity: 64) { buffer, count in
            count = Int(earshot_pw_floats(value, key.rawValue, buffer.baseAddress, UInt32(buffer.count)))
        }
    }
    let volumes = PipeWireStreams.Volumes(
        user: floats(SPA_PROP_channelVolumes), soft: floats(SPA_PROP_softVolumes), isMuted: earshot_pw_is_muted(value))
    if !volumes.user.isEmpty { watch(data)?.notify(volumes) }
}

private func pipeWirePortParameter(
    _ data: UnsafeMutableRawPointer?, _ number: CInt, _ id: UInt32, _ index: UInt32, _ next: UInt32,
    _ value: UnsafePointer<spa_pod>?
) {
    guard let value, id == SPA_PARAM_Latency.rawValue else { return }
    var latency = spa_latency_info()
    if spa_latency_parse(value, &latency) >= 0 { watch(data)?.notify(latency) }
}

private func pipeWireDeviceInfo(_ data: UnsafeMutableRawPointer?, _ info: UnsafePointer<pw_device_info>?) {
    guard let info = info?.pointee else { return }
    if info.change_mask & UInt64(PW_DEVICE_CHANGE_MASK_PROPS) != 0 { watch(data)?.notify(pipeWireEntries(info.props)) }
    if info.change_mask & UInt64(PW_DEVICE_CHANGE_MASK_PARAMS) != 0 {
        watch(data)?.readChangedParameters(UnsafeBufferPointer(start: info.params, count: Int(info.n_params)))
    }
}

private func pipeWireDeviceParameter(
    _ data: UnsafeMutableRawPointer?, _ number: CInt, _ id: UInt32, _ index: UInt32, _ next: UInt32,
    _ value: UnsafePointer<spa_pod>?
) {
    if let value { watch(data)?.notify(id, request: number, value) }
}

private func pipeWireMetadata(
    _ data: UnsafeMutableRawPointer?, _ subject: UInt32, _ key: UnsafePointer<CChar>?, _ type: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
) -> CInt {
    guard subject == 0 else { return 0 }
    watch(data)?.notify(key.map { String(cString: $0) }, value.map { String(cString: $0) })
    return 0
}

private func pipeWireLinkInfo(_ data: UnsafeMutableRawPointer?, _ info: UnsafePointer<pw_link_info>?) {
    guard let info else { return }
    watch(data)?.notify(info.pointee.state)
}

private func pipeWireLinkError(
    _ data: UnsafeMutableRawPointer?, _ number: CInt, _ code: CInt, _ message: UnsafePointer<CChar>?
) {
    watch(data)?.notify(PW_LINK_STATE_ERROR)
}
