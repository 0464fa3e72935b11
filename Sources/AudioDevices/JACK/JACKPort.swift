// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK

/// An audio port of a server, at one moment.
struct JACKPort: Hashable, Sendable {
    /// In full: its client's name, a colon, its own.
    var name: String
    /// True if sound comes from it: a capture port, or what another program plays.
    var isSource: Bool
    /// True if a converter is behind it.
    var isPhysical: Bool
    /// Frames to the converter, or to where sound begins or ends; the longest way.
    var latencyFrames: Int

    /// The client's name: the text before the first colon.
    var client: String { String(name.prefix { $0 != ":" }) }

    /// All audio ports, in the server's order.
    static func list(_ client: OpaquePointer) -> [JACKPort] {
        guard let names = jack_get_ports(client, nil, JACK_DEFAULT_AUDIO_TYPE, 0) else { return [] }
        defer { jack_free(names) }
        var ports: [JACKPort] = []
        var i = 0
        while let name = names[i] {
            i += 1
            guard let port = jack_port_by_name(client, name) else { continue }
            let flags = UInt32(bitPattern: jack_port_flags(port))
            let isSource = flags & JackPortIsOutput.rawValue != 0
            let latency = earshot_jack_latency(port, isSource ? JackCaptureLatency : JackPlaybackLatency)
            ports.append(
                JACKPort(
                    name: String(cString: name), isSource: isSource,
                    isPhysical: flags & JackPortIsPhysical.rawValue != 0, latencyFrames: Int(latency)))
        }
        return ports
    }
}
