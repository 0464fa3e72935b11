// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

extension PipeWireClient {
    /// Handles the removal of the server's object of this number: fails if it was a device, and removes the links of a port.
    func disappeared(_ id: UInt32) {
        for target in [input, output].compactMap(\.self) where target.node == id {
            fail(.deviceGone(name: target.name))
        }
        for (pair, link) in links where pair.from.id == id || pair.to.id == id {
            link.proxy?.destroy()
            links[pair] = nil
        }
        noteRefusal()
    }

    /// Removes links whose ports have changed, and makes links that have become possible. Fails if a device is gone.
    func graphChanged() {
        for target in [input, output].compactMap(\.self) where hub.graph.nodes[target.node] == nil {
            return fail(.deviceGone(name: target.name))
        }
        for (pair, link) in links
        where hub.graph.ports[pair.from.id] != pair.from || hub.graph.ports[pair.to.id] != pair.to {
            link.proxy?.destroy()
            links[pair] = nil
        }
        guard failure == nil, let connection else { return }
        for pair in wantedLinks() where links[pair] == nil {
            links[pair] = Link()
            // A link that another program removed is not made again.
            links[pair]?.proxy = .link(connection.core, from: pair.from, to: pair.to) { [unowned self] state in
                links[pair]?.state = state
                noteRefusal()
            }
            if links[pair]?.proxy == nil { links[pair]?.state = PW_LINK_STATE_ERROR }
        }
        noteRefusal()
    }

    /// True if all of this client's ports exist, and all their possible links to the devices' channels are active.
    var isLinked: Bool {
        let graph = hub.graph
        guard let node else { return false }
        let state = memory.state
        for i in 0..<state.pointee.inputCount where graph.port(of: node, named: Self.inputPortName(i)) == nil {
            return false
        }
        for i in 0..<state.pointee.outputCount where graph.port(of: node, named: Self.outputPortName(i)) == nil {
            return false
        }
        if let input, graph.sources(of: input.node).isEmpty { return false }
        if let output, graph.destinations(of: output.node).isEmpty { return false }
        return wantedLinks().allSatisfy { links[$0]?.state == PW_LINK_STATE_ACTIVE }
    }

    /// The server's number of this client's filter; nil while there is none.
    private var node: UInt32? {
        filter.map { pw_filter_get_node_id($0) }.flatMap { $0 == SPA_ID_INVALID ? nil : $0 }
    }

    private func wantedLinks() -> [Pair] {
        guard let node else { return [] }
        let graph = hub.graph
        var pairs: [Pair] = []
        if let input {
            let sources = graph.sources(of: input.node)
            for i in 0..<memory.state.pointee.inputCount {
                let channel = request.inputChannelMap?[i] ?? i
                guard channel < sources.count, let port = graph.port(of: node, named: Self.inputPortName(i)) else {
                    continue
                }
                pairs.append(Pair(from: sources[channel], to: port))
            }
        }
        if let output {
            let destinations = graph.destinations(of: output.node)
            let count = memory.state.pointee.outputCount
            for i in 0..<count {
                // Without a channel map, a single output is played on the device's first two channels.
                let channels = request.outputChannelMap.map { [$0[i]] } ?? (count == 1 ? [0, 1] : [i])
                guard let port = graph.port(of: node, named: Self.outputPortName(i)) else { continue }
                pairs += channels.filter { $0 < destinations.count }.map { Pair(from: port, to: destinations[$0]) }
            }
        }
        return pairs
    }

    /// Stores the latency that the server reports for a port. Of each direction the longest latency is used.
    func setLatency(_ latency: spa_latency_info, of port: UnsafeMutableRawPointer) {
        portLatencies[port] = PipeWireGraph.Delay(latency)
        let state = memory.state
        store(state.pointee.inputPorts, state.pointee.inputCount) { latency in
            state.pointee.inputLatency.store(latency)
        }
        store(state.pointee.outputPorts, state.pointee.outputCount) { latency in
            state.pointee.outputLatency.store(latency)
        }
    }

    private func store(
        _ ports: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ count: Int, _ body: (PipeWireGraph.Delay) -> Void
    ) {
        let knownDelays = (0..<count).compactMap { ports[$0] }.compactMap { portLatencies[$0] }
        let longest = knownDelays.max {
            ($0.quanta, $0.frames, $0.nanoseconds) < ($1.quanta, $1.frames, $1.nanoseconds)
        }
        if let longest { body(longest) }
    }
}

extension PipeWireLatency {
    /// Stores the delay that the server reports.
    func store(_ delay: PipeWireGraph.Delay) {
        quanta.store(Int(delay.quanta * 1_000), ordering: .relaxed)
        frames.store(delay.frames, ordering: .relaxed)
        nanoseconds.store(delay.nanoseconds, ordering: .relaxed)
    }
}
