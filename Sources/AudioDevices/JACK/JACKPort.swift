// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK

/// The properties of a JACK server's audio port at one time.
struct JACKPort: Hashable, Sendable {
    /// The full name: the client's name, a colon, the port's name.
    var name: String
    /// True if sound comes from the port: a capture port, or another program's output.
    var isSource: Bool
    /// True if the port leads to a converter.
    var isPhysical: Bool
    /// The latency in frames from the port to the converter or the other end of the sound's path; the longest path counts.
    var latencyFrames: Int

    /// The client's name: the text before the first colon.
    var client: String { String(name.prefix { $0 != ":" }) }

    /// Returns all audio ports, in the server's order.
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
