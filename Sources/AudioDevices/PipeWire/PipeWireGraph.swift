// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

/// The objects of a server as values, filled from the server's registry; without pointers or calls.
struct PipeWireGraph {
    /// The port of a node's channel.
    struct Port: Hashable {
        var id: UInt32
        var node: UInt32
        var isOutput: Bool
        /// True if the server marks the port as a monitor: for a sink, the port outputs what the sink plays.
        var isMonitor: Bool
        /// The port's index among the ports of its node and direction.
        var index: Int
        var name: String
    }

    /// The server's scheduling, from the `settings` metadata.
    struct Clock {
        var sampleRate = 48_000
        var sampleRates = [48_000]
        /// The sample rate in hertz that a user forces; 0 for none.
        var forcedSampleRate = 0
        var quanta = 32...2_048
    }

    /// A source's volume as its user has set it.
    struct Volume: Hashable {
        var isMuted = false
        /// True if the volumes of all channels are 0.
        var isZero = false
    }

    /// The properties of nodes, by the node's number.
    var nodes: [UInt32: [String: String]] = [:]
    /// The properties of devices, which the nodes of a device share, by the device's number.
    var devices: [UInt32: [String: String]] = [:]
    /// The routes and profiles of devices, by the device's number.
    var cards: [UInt32: Card] = [:]
    /// Cards whose lists the server has not sent completely.
    var unfinishedCards: [UInt32: Card] = [:]
    /// The names of the nodes that Bluetooth devices have or had, by the device's number.
    var bluetoothNodes: [UInt32: Set<String>] = [:]
    /// The volumes of sources, by the node's number.
    var volumes: [UInt32: Volume] = [:]
    var ports: [UInt32: Port] = [:]
    /// The process ids of clients, by the client's number.
    var processes: [UInt32: pid_t] = [:]
    /// The latencies that ports report, by the port's number.
    var delays: [UInt32: Delay] = [:]
    /// The observed metadata objects, by the object's number.
    var metadata: [UInt32: Metadata] = [:]
    var clock = Clock()
    /// The `node.name` of the default output.
    var defaultSink: String?
    /// The `node.name` of the default input, or of the sink whose monitor is the default input.
    var defaultSource: String?

    /// The sample rate in hertz at which a new graph runs.
    var sampleRate: Int { clock.forcedSampleRate > 0 ? clock.forcedSampleRate : clock.sampleRate }

    mutating func addPort(_ id: UInt32, _ properties: [String: String]) {
        guard let node = properties[PW_KEY_NODE_ID].flatMap({ UInt32($0) }) else { return }
        // The server also lists MIDI ports, which are left out.
        if let format = properties[PW_KEY_FORMAT_DSP], !format.contains("audio") { return }
        ports[id] = Port(
            id: id, node: node, isOutput: properties[PW_KEY_PORT_DIRECTION] == "out",
            isMonitor: properties[PW_KEY_PORT_MONITOR] == "true",
            index: properties[PW_KEY_PORT_ID].flatMap { Int($0) } ?? Int(id), name: properties[PW_KEY_PORT_NAME] ?? "")
    }

    mutating func remove(_ id: UInt32) {
        nodes[id] = nil
        devices[id] = nil
        cards[id] = nil
        unfinishedCards[id] = nil
        bluetoothNodes[id] = nil
        volumes[id] = nil
        ports[id] = nil
        processes[id] = nil
        delays[id] = nil
        if let gone = metadata.removeValue(forKey: id), !metadata.values.contains(gone) { set(gone, nil, nil) }
    }

    /// Returns true if a port is a device's first, on the side that programs link to. The latency of this port is used for all
    /// ports of the device's direction.
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

    /// Returns a node's output ports in their order: those that are not marked as monitors or, if there are none, all. A sink has
    /// only its monitor's output ports, and the ports of a virtual source are marked as monitors.
    func sources(of node: UInt32) -> [Port] {
        let all = ports.values.filter { $0.node == node && $0.isOutput }.sorted { $0.index < $1.index }
        let own = all.filter { !$0.isMonitor }
        return own.isEmpty ? all : own
    }

    /// Returns a node's input ports, in order.
    func destinations(of node: UInt32) -> [Port] {
        ports.values.filter { $0.node == node && !$0.isOutput }.sorted { $0.index < $1.index }
    }

    /// Returns the port of a node with a name; nil if there is none.
    func port(of node: UInt32, named name: String) -> Port? {
        ports.values.first { $0.node == node && $0.name == name }
    }

    /// Returns true if a node is another program's playback stream, with a volume. This process's own nodes are known by their
    /// client's process id; a device's node is no stream.
    func isForeignStream(_ id: UInt32) -> Bool {
        guard let node = nodes[id], node[PW_KEY_MEDIA_CLASS] == "Stream/Output/Audio" else { return false }
        let client = node[PW_KEY_CLIENT_ID].flatMap { UInt32($0) }
        return client.flatMap { processes[$0] } != getpid()
    }

    /// Returns the number of the device node with this `node.name`; nil if there is none.
    func deviceNode(named name: String) -> UInt32? {
        nodes.filter { $0.value[PW_KEY_NODE_NAME] == name && Self.isDevice($0.value) }.map(\.key).min()
    }
}
