// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

/// The objects of a server, from its registry: no pointers, no calls.
struct PipeWireGraph {
    /// One channel's end at a node.
    struct Port: Hashable {
        var id: UInt32
        var node: UInt32
        var isOutput: Bool
        /// Gives what a sink plays.
        var isMonitor: Bool
        /// In its node's order.
        var index: Int
        var name: String
    }

    /// The server's scheduling; the `settings` metadata.
    struct Clock {
        var sampleRate = 48_000
        var sampleRates = [48_000]
        /// 0 if none is forced.
        var forcedSampleRate = 0
        var quanta = 32...2_048
    }

    /// Node properties, by the node's number.
    var nodes: [UInt32: [String: String]] = [:]
    /// Device properties, by the device's number: what several nodes have in common.
    var devices: [UInt32: [String: String]] = [:]
    var ports: [UInt32: Port] = [:]
    /// Process ids, by the client's number.
    var processes: [UInt32: pid_t] = [:]
    /// The delays of ports whose devices declare them, by the port's number.
    var delays: [UInt32: Delay] = [:]
    /// The known metadata, by its number.
    var metadata: [UInt32: Metadata] = [:]
    var clock = Clock()
    /// `node.name` of the default output.
    var defaultSink: String?
    /// `node.name` of the default input, or of a sink whose monitor is.
    var defaultSource: String?

    /// The rate of a graph that is made now.
    var sampleRate: Int { clock.forcedSampleRate > 0 ? clock.forcedSampleRate : clock.sampleRate }

    mutating func addPort(_ id: UInt32, _ properties: [String: String]) {
        guard let node = properties[PW_KEY_NODE_ID].flatMap({ UInt32($0) }) else { return }
        // Ports for MIDI are beside those for sound.
        if let format = properties[PW_KEY_FORMAT_DSP], !format.contains("audio") { return }
        ports[id] = Port(
            id: id, node: node, isOutput: properties[PW_KEY_PORT_DIRECTION] == "out",
            isMonitor: properties[PW_KEY_PORT_MONITOR] == "true",
            index: properties[PW_KEY_PORT_ID].flatMap { Int($0) } ?? Int(id), name: properties[PW_KEY_PORT_NAME] ?? "")
    }

    mutating func remove(_ id: UInt32) {
        nodes[id] = nil
        devices[id] = nil
        ports[id] = nil
        processes[id] = nil
        delays[id] = nil
        if let gone = metadata.removeValue(forKey: id), !metadata.values.contains(gone) { set(gone, nil, nil) }
    }

    /// Returns true if a port is its device's first, on the side that programs are linked to: what it says of delays holds for all.
    func isFirstOfDevice(_ port: UInt32) -> Bool {
        guard let port = ports[port], port.index == 0, let node = nodes[port.node], Self.isDevice(node) else {
            return false
        }
        switch node[PW_KEY_MEDIA_CLASS] {
        case "Audio/Sink": return !port.isOutput
        case "Audio/Duplex": return true
        default: return port.isOutput
        }
    }

    /// A node's ports that sound leaves by, in order. A sink's are its monitor's; a virtual source's say that they are.
    func sources(of node: UInt32) -> [Port] {
        let all = ports.values.filter { $0.node == node && $0.isOutput }.sorted { $0.index < $1.index }
        let own = all.filter { !$0.isMonitor }
        return own.isEmpty ? all : own
    }

    /// A node's ports that sound enters by, in order.
    func destinations(of node: UInt32) -> [Port] {
        ports.values.filter { $0.node == node && !$0.isOutput }.sorted { $0.index < $1.index }
    }

    /// The port of a node with a name.
    func port(of node: UInt32, named name: String) -> Port? {
        ports.values.first { $0.node == node && $0.name == name }
    }

    /// Returns true if a node is what another program plays, with a volume. This process's own is known by its client's process id;
    /// what it opens as a device is no stream.
    func isOthersStream(_ id: UInt32) -> Bool {
        guard let node = nodes[id], node[PW_KEY_MEDIA_CLASS] == "Stream/Output/Audio" else { return false }
        let client = node[PW_KEY_CLIENT_ID].flatMap { UInt32($0) }
        return client.flatMap { processes[$0] } != getpid()
    }

    /// The node with a name that is a device.
    func deviceNode(named name: String) -> UInt32? {
        nodes.filter { $0.value[PW_KEY_NODE_NAME] == name && Self.isDevice($0.value) }.map(\.key).min()
    }
}
