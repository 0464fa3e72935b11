// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

/// A stream that keeps a Bluetooth headset in its profile for calls. Under the loop's lock.
///
/// Session managers change the profile while a program's stream captures from the headset, and change it back two seconds after
/// the last one (wireplumber 0.4: a stream with the role Communication while the headset is the default; 0.5: a stream that is
/// linked to the headset's source). They ignore filters, such as this program's devices. So this stream captures beside the
/// filter and discards its sound.
final class PipeWireHeadset: @unchecked Sendable {  // what is not `let` is touched under the loop's lock
    private let hub: PipeWireHub
    private let output: String
    private var connection: PipeWireConnection?
    private var stream: OpaquePointer?
    private var forced: Forced?

    /// A profile that was set.
    private struct Forced {
        var device: UInt32
        /// The device's serial number and name: another device may get its number, and a new server begins both numbers again.
        var identity: [String?]
        var previous: Int
        var wanted: Int
    }

    /// - Parameter output: the `node.name` of the headset's sink.
    init(_ hub: PipeWireHub, output: String) {
        self.hub = hub
        self.output = output
    }

    /// Opens the stream. Does nothing if the server does not answer.
    func open() {
        hub.addUser()
        var properties = [
            PW_KEY_NODE_NAME: "earshot-headset", PW_KEY_MEDIA_TYPE: "Audio", PW_KEY_MEDIA_CATEGORY: "Capture",
            PW_KEY_MEDIA_ROLE: "Communication",
        ]
        properties["target.object"] = hub.graph.headsetSource(of: output)
        guard
            let connection = try? PipeWireConnection(
                hub.loop, remote: hub.remote, properties: [PW_KEY_APP_NAME: "earshot"])
        else { return }
        self.connection = connection
        stream = earshot_pw_capture(connection.core, pipeWireProperties(properties))
    }

    /// Sets the profile for calls.
    func force() {
        guard let number = hub.graph.deviceNode(named: output), let node = hub.graph.nodes[number],
            let device = PipeWireGraph.card(of: node), let card = hub.graph.cards[device],
            let wanted = card.callProfile, let present = card.profiles.first, present.index != wanted.index
        else { return }
        forced = Forced(
            device: device, identity: identity(of: device), previous: present.index, wanted: wanted.index)
        hub.setProfile(wanted.index, of: device)
    }

    /// Closes the stream, and restores the profile before the one that was set.
    func close() {
        if let stream { pw_stream_destroy(stream) }
        stream = nil
        connection?.close()
        connection = nil
        restore()
        hub.removeUser()
    }

    private func identity(of device: UInt32) -> [String?] {
        let properties = hub.graph.devices[device] ?? [:]
        return [properties[PW_KEY_OBJECT_SERIAL], properties[PW_KEY_DEVICE_NAME]]
    }

    /// Restores the previous profile, unless the user or the session manager has chosen another one since.
    private func restore() {
        guard let forced else { return }
        self.forced = nil
        guard identity(of: forced.device) == forced.identity else { return }
        let present = hub.graph.cards[forced.device]?.profiles.first?.index
        guard present == nil || present == forced.wanted || present == forced.previous else { return }
        hub.setProfile(forced.previous, of: forced.device)
    }
}

extension PipeWireGraph {
    /// Returns the name of the source of the headset that has this sink; nil if there is none. In music mode, only newer session
    /// managers have one.
    func headsetSource(of sink: String) -> String? {
        guard let number = deviceNode(named: sink), let node = nodes[number] else { return nil }
        let card = Self.card(of: node)
        // A session manager's own source belongs to no device object, but has the headset's address in its name.
        let address = sink.split(separator: ".").dropFirst().first.map { Self.plain(String($0)) }
        let sources = nodes.filter { _, other in
            guard other[PW_KEY_MEDIA_CLASS] == "Audio/Source", let name = other[PW_KEY_NODE_NAME] else { return false }
            if card != nil && Self.card(of: other) == card { return true }
            return address.map { Self.plain(name).hasPrefix("bluez_input.\($0)") } ?? false
        }
        return sources.min { $0.key < $1.key }?.value[PW_KEY_NODE_NAME]
    }

    /// Returns a name with the underscores that some servers use in a Bluetooth address instead of colons.
    private static func plain(_ name: String) -> String { name.replacing(":", with: "_") }
}

extension PipeWireSystem: HeadsetMicrophoneSystem {
    /// Opens a stream that makes the session manager change the headset's profile. Does nothing if the server does not answer.
    package func requestMicrophone(ofHeadset id: String) -> HeadsetMicrophone {
        let hub = hub
        let headset = PipeWireHeadset(hub, output: id)
        hub.loop.locked { headset.open() }
        return HeadsetMicrophone(
            force: { hub.loop.locked { headset.force() } }, end: { hub.loop.locked { headset.close() } })
    }
}
