// SPDX-License-Identifier: Apache-2.0

extension JACKSystem {
    /// Returns one device for each client with ports, in the server's order.
    /// - Parameter own: the names of clients to leave out: this process's own.
    static func devices(
        _ ports: [JACKPort], sampleRate: Double, blockFrameCount: Int, without own: Set<String>
    ) -> [AudioDeviceDescription] {
        var clients: [String] = []
        for port in ports where !own.contains(port.client) && !clients.contains(port.client) {
            clients.append(port.client)
        }
        let defaultInput = ports.first { $0.isPhysical && $0.isSource }?.client
        let defaultOutput = ports.first { $0.isPhysical && !$0.isSource }?.client
        return clients.map { client in
            let sources = ports.filter { $0.client == client && $0.isSource }
            let sinks = ports.filter { $0.client == client && !$0.isSource }
            let isPhysical = (sources + sinks).contains { $0.isPhysical }
            func latency(_ ports: [JACKPort]) -> Double? {
                ports.map(\.latencyFrames).max().map { Double($0) / sampleRate }
            }
            return AudioDeviceDescription(
                id: client, backend: .jack, name: client, transport: isPhysical ? .unknown : .virtual,
                inputChannelCount: sources.count, outputChannelCount: sinks.count, sampleRate: sampleRate,
                blockFrameCounts: blockFrameCount...blockFrameCount, inputLatency: latency(sources),
                outputLatency: latency(sinks), isDefaultInput: client == defaultInput,
                isDefaultOutput: client == defaultOutput)
        }
    }
}
