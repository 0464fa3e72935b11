// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import CEarshotRealtime
import Synchronization

/// This process's view of one server: the server's current objects, and the loop on which they are used.
///
/// A hub outlives its server. Sound systems and devices retain the hub; when the last of them ends, the hub disconnects.
final class PipeWireHub: @unchecked Sendable {  // what is not `let` is touched under the loop's lock
    let loop: PipeWireLoop
    let remote: String?
    let registry = AudioDeviceRegistry()
    private(set) var graph = PipeWireGraph()
    private var connection: PipeWireConnection?
    private var objects: OpaquePointer?
    private var registryHook: PipeWireHook<pw_registry_events>?
    private var watches: [UInt32: PipeWireProxy] = [:]
    private let streams: PipeWireStreams
    private var clients: [ObjectIdentifier: PipeWireClient] = [:]
    private var timer: UnsafeMutablePointer<spa_source>?
    private var isDisconnected = false
    private var userCount = 0
    private let trouble = Mutex<AudioDeviceError?>(nil)

    // The device list is rebuilt only after the server has answered a sync, and thus has sent everything that belongs together.
    private var syncNumber: CInt = 0
    private var isSyncing = false
    private var isChanged = false
    private var roundCount = 0

    init(remote: String?) throws(AudioDeviceError) {
        loop = try PipeWireLoop()
        streams = PipeWireStreams(loop)
        self.remote = remote
        setFailure(noServer)
    }

    /// The reason that there is no list of devices; nil if there is one. Any thread.
    var failure: AudioDeviceError? { trouble.withLock { $0 } }

    private func setFailure(_ failure: AudioDeviceError?) { trouble.withLock { $0 = failure } }
    private var noServer: AudioDeviceError { .noServer(.pipewire, server: remote, onPipeWire: false) }

    /// True if a server has accepted the connection; the server's objects may not be known yet. Under the lock.
    var isConnected: Bool { connection != nil && !isDisconnected }

    /// Counts a user: a system, a client or a `Ducking`. The first one connects to the server. Under the lock.
    func addUser() {
        userCount += 1
        guard userCount == 1 else { return }
        timer = earshot_pw_add_timer(loop.main, pipeWireRetry, Unmanaged.passUnretained(self).toOpaque())
        connect()
    }

    /// Removes a user. After the last user's removal the hub is disconnected and no callback comes, so it may be released. Under
    /// the lock.
    func removeUser() {
        userCount -= 1
        guard userCount == 0 else { return }
        disconnect()
        if let timer { earshot_pw_remove_source(loop.main, timer) }
        timer = nil
    }

    /// Adds a client, whose links are then maintained. Under the lock.
    func add(_ client: PipeWireClient) { clients[ObjectIdentifier(client)] = client }
    /// Removes a client. Under the lock.
    func remove(_ client: PipeWireClient) { clients[ObjectIdentifier(client)] = nil }

    /// Sets the profile of a device object, by the profile's number. Does nothing for an unknown device. Under the lock.
    func setProfile(_ index: Int, of device: UInt32) {
        guard let watch = watches[device], graph.devices[device] != nil, let number = Int32(exactly: index) else {
            return
        }
        earshot_pw_set_profile(watch.proxy, number)
    }

    /// Lowers the volume of other programs, current and later ones. Under the lock.
    /// - Returns: the number for ``unduckOthers(_:)``.
    func duckOthers(to gain: Float) -> Int {
        defer { updateStreams() }
        return streams.addGain(gain)
    }

    /// Removes a gain, which restores the volume if no other gain remains. Returns when the server has received the change, or
    /// after 0.25 s, because the program may end right after this call. Under the lock.
    func unduckOthers(_ number: Int) {
        streams.removeGain(number)
        updateStreams()
        changed()
        _ = loop.wait(seconds: 0.25) { !isConnected || !isSyncing }
    }

    private func updateStreams() {
        streams.update(isDisconnected ? nil : objects, graph.nodes.keys.filter(graph.isForeignStream))
    }

    /// Connects, or connects again after the server ended. On the loop's thread, or under the lock.
    fileprivate func retry() {
        guard userCount > 0, connection == nil || isDisconnected else { return }
        disconnect()
        connect()
    }

    private func connect() {
        do throws(AudioDeviceError) {
            let connection = try PipeWireConnection(
                loop, remote: remote, properties: [PW_KEY_APP_NAME: "earshot", PW_KEY_MEDIA_CATEGORY: "Manager"])
            connection.onDone = { [unowned self] number in synced(number) }
            connection.onGone = { [unowned self] _ in lost() }
            self.connection = connection
            isDisconnected = false
            try watchObjects(of: connection)
        } catch {
            disconnect()
            setFailure(error)
            again(after: 250_000_000)
        }
    }

    private func watchObjects(of connection: PipeWireConnection) throws(AudioDeviceError) {
        guard let objects = pw_core_get_registry(connection.core, UInt32(PW_VERSION_REGISTRY), 0) else {
            throw .callFailed(.pipewire, call: "pw_core_get_registry", code: Int(earshot_pw_errno()))
        }
        self.objects = objects
        var events = pw_registry_events()
        events.version = UInt32(PW_VERSION_REGISTRY_EVENTS)
        events.global = pipeWireGlobal
        events.global_remove = pipeWireGlobalRemove
        let hook = PipeWireHook(events)
        registryHook = hook
        earshot_pw_listen_registry(objects, hook.hook, hook.events, Unmanaged.passUnretained(self).toOpaque())
        changed()
    }

    private func again(after nanoseconds: Int) {
        if let timer { earshot_pw_set_timer(loop.main, timer, nanoseconds) }
    }

    /// Notes the loss of the connection. The connection must not be destroyed in its own callback, so the timer does that.
    private func lost() {
        guard !isDisconnected else { return }
        isDisconnected = true
        setFailure(noServer)
        registry.replace(with: [])
        again(after: 1)
    }

    private func disconnect() {
        streams.removeAll()
        for watch in watches.values { watch.destroy() }
        watches = [:]
        registryHook?.remove()
        registryHook = nil
        if let objects { earshot_pw_destroy(UnsafeMutableRawPointer(objects)) }
        objects = nil
        connection?.close()
        connection = nil
        graph = PipeWireGraph()
        isSyncing = false
        isChanged = false
        roundCount = 0
    }

    /// Notes a possible change of the objects. The device list is rebuilt after the server's next answer, so that changes are
    /// collected.
    private func changed() {
        isChanged = true
        guard !isSyncing, let connection else { return }
        isSyncing = true
        isChanged = false
        syncNumber = earshot_pw_sync(connection.core, 0)
        if syncNumber < 0 { lost() }
    }

    private func synced(_ number: CInt) {
        guard isSyncing, number == syncNumber else { return }
        isSyncing = false
        if isChanged && roundCount < 8 {
            roundCount += 1
            changed()
        } else {
            roundCount = 0
            if !isChanged { graph.applyCardUpdates() }
            publish()
            if isChanged { changed() }
        }
    }

    private func publish() {
        setFailure(nil)
        registry.replace(with: graph.descriptions(), reconfigured: graph.reconfiguredNodes)
        for client in clients.values { client.graphChanged() }
    }
}

extension PipeWireHub {
    fileprivate func appeared(_ id: UInt32, _ type: String, _ properties: [String: String]) {
        guard let objects, !isDisconnected else { return }
        switch type {
        case PipeWireType.node:
            graph.nodes[id] = properties
            if graph.isForeignStream(id) { streams.appeared(objects, id) }
            guard PipeWireGraph.isDevice(properties) else { break }
            let isSource = properties[PW_KEY_MEDIA_CLASS] != "Audio/Sink"
            watches[id] = .node(objects, id, readsVolume: isSource) { [unowned self] properties in
                graph.nodes[id] = properties
                changed()
            } onVolumes: { [unowned self] volumes in
                graph.volumes[id] = PipeWireGraph.Volume(
                    isMuted: volumes.isMuted, isZero: volumes.user.allSatisfy { $0 == 0 })
                changed()
            }
        case PipeWireType.device where properties[PW_KEY_MEDIA_CLASS] == "Audio/Device":
            graph.devices[id] = properties
            watches[id] = .device(objects, id) { [unowned self] properties in
                graph.devices[id] = properties
                changed()
            } onCardUpdate: { [unowned self] update in
                graph.add(update, to: id)
                changed()
            }
        case PipeWireType.port:
            graph.addPort(id, properties)
            if graph.isFirstOfDevice(id) { watchLatency(objects, id) }
        case PipeWireType.client:
            graph.processes[id] = properties[PW_KEY_SEC_PID].flatMap { pid_t($0) }
            return
        case PipeWireType.metadata: watchMetadata(objects, id, properties[PW_KEY_METADATA_NAME] ?? "")
        default: return
        }
        changed()
    }

    private func watchLatency(_ objects: OpaquePointer, _ id: UInt32) {
        watches[id] = .port(objects, id) { [unowned self] latency in
            // A port reports the latencies of both directions; only the port's own direction counts.
            guard let port = graph.ports[id], (latency.direction == SPA_DIRECTION_OUTPUT) == port.isOutput else {
                return
            }
            graph.delays[id] = PipeWireGraph.Delay(latency)
            changed()
        }
    }

    private func watchMetadata(_ objects: OpaquePointer, _ id: UInt32, _ name: String) {
        guard let metadata = PipeWireGraph.Metadata(rawValue: name) else { return }
        graph.metadata[id] = metadata
        watches[id] = .metadata(objects, id) { [unowned self] key, value in
            graph.set(metadata, key, value)
            changed()
        }
    }

    fileprivate func disappeared(_ id: UInt32) {
        watches.removeValue(forKey: id)?.destroy()
        streams.disappeared(id)
        graph.remove(id)
        // The clients are told at once, since another object may get the same number before the list is rebuilt.
        for client in clients.values { client.disappeared(id) }
        changed()
    }
}

// The functions below are called on the loop's thread; `data` is the hub.

private func hub(_ data: UnsafeMutableRawPointer?) -> PipeWireHub? {
    data.map { Unmanaged<PipeWireHub>.fromOpaque($0).takeUnretainedValue() }
}

private func pipeWireGlobal(
    _ data: UnsafeMutableRawPointer?, _ id: UInt32, _ permissions: UInt32, _ type: UnsafePointer<CChar>?,
    _ version: UInt32, _ properties: UnsafePointer<spa_dict>?
) {
    guard let type else { return }
    hub(data)?.appeared(id, String(cString: type), pipeWireEntries(properties))
}

private func pipeWireGlobalRemove(_ data: UnsafeMutableRawPointer?, _ id: UInt32) { hub(data)?.disappeared(id) }

private func pipeWireRetry(_ data: UnsafeMutableRawPointer?, _ expirations: UInt64) { hub(data)?.retry() }
