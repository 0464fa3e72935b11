// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A sound system with the devices of a PipeWire server, reached by PipeWire's own protocol.
///
/// It has a connection to the server, and a further connection for each open device, all on one loop. While no server answers, it
/// tries to connect four times a second. A session manager (wireplumber) names the default devices; without one there are none.
package final class PipeWireSystem: AudioDucking {
    let hub: PipeWireHub

    /// Connects to the server. Returns when the list of devices is complete, or after at most a second.
    /// - Parameter remote: the server's socket: a path, or a name in `PIPEWIRE_RUNTIME_DIR` or `XDG_RUNTIME_DIR`, and then in
    ///   `/run/pipewire`; nil for the session's own, which is `PIPEWIRE_REMOTE`'s or `pipewire-0`.
    /// - Throws: ``AudioDeviceError/noThread(code:)``, ``AudioDeviceError/callFailed(_:call:code:)``. A missing server is not
    ///   thrown, but in ``failure``.
    package init(remote: String? = nil) throws(AudioDeviceError) {
        let hub = try PipeWireHub(remote: remote)
        self.hub = hub
        hub.loop.locked {
            hub.addUser()
            if hub.isConnected { _ = hub.loop.wait(seconds: 1) { hub.failure == nil || !hub.isConnected } }
        }
    }

    deinit {
        let hub = hub
        hub.loop.locked { hub.removeUser() }
    }

    /// The kind of sound system: PipeWire.
    package var backend: AudioBackend { .pipewire }
    /// Sinks and sources, and then the sinks' monitors as inputs with the id `NAME.monitor`, which are never defaults. Programs'
    /// streams, and wireplumber's stand-in for a missing loudspeaker (`auto_null`), are left out.
    package var registry: AudioDeviceRegistry { hub.registry }
    /// ``AudioDeviceError/noServer(_:server:onPipeWire:)`` while no server answers,
    /// ``AudioDeviceError/otherUsersServer(_:socket:owner:)`` if its socket is another user's, or
    /// ``AudioDeviceError/callFailed(_:call:code:)``; nil while the server's devices are known.
    package var failure: AudioDeviceError? { hub.failure }

    /// Lowers the volume of every other program's streams, including later ones and those of a restarted server, until the
    /// returned ``Ducking`` is ended, which takes a moment, or released. Any thread except the render thread.
    ///
    /// The volumes that users see and set stay. Programs that use JACK's protocol on PipeWire have no volume, and are not
    /// changed. Should this program be killed, the streams playing at that time stay quiet until they end or their volume is
    /// changed; nothing is stored.
    /// - Parameter gain: a factor, clamped to 0…1; NaN is 1.
    package func duckOthers(to gain: Float) -> Ducking {
        let hub = hub
        let gain = gain.isNaN ? 1 : max(0, min(1, gain))
        let number = hub.loop.locked {
            hub.addUser()
            return hub.duckOthers(to: gain)
        }
        return Ducking {
            hub.loop.locked {
                hub.unduckOthers(number)
                hub.removeUser()
            }
        }
    }

    /// Joins the graph with ports that are linked to the devices' ports, and returns when the graph runs them. From then on the
    /// devices are in use, with silence until the start.
    ///
    /// The server itself compensates different clocks: it resamples a device that does not drive the graph. The id `NAME.monitor`
    /// captures what a sink plays. PipeWire has no exclusive use of a device by a filter: ``AudioDeviceRequest/isExclusive`` is
    /// passed on as `node.exclusive`, which wireplumber applies only to streams that it links itself, so other programs are still
    /// mixed in.
    /// - Throws: ``failure``, ``AudioDeviceError/noDevice(name:near:)``, ``AudioDeviceError/noDefaultDevice(_:)``,
    ///   ``AudioDeviceError/unsupportedFormat(detail:)``, ``AudioDeviceError/deviceGone(name:)`` if a device disappeared
    ///   meanwhile, ``AudioDeviceError/portFailed(name:)``, ``AudioDeviceError/stalled(device:seconds:)`` if the graph does not
    ///   run or a device does not answer, ``AudioDeviceError/serverGone(_:reason:)``,
    ///   ``AudioDeviceError/callFailed(_:call:code:)``.
    package func open(_ request: AudioDeviceRequest) throws(AudioDeviceError) -> any AudioDevice {
        let request = try request.validated()
        if request.input == .none && request.output == .none {
            throw .unsupportedFormat(detail: "no input and no output channels")
        }
        let hub = hub
        let client = try hub.loop.locked { () throws(AudioDeviceError) -> PipeWireClient in
            if let failure = hub.failure { throw failure }
            let input = try hub.target(request.input, .input)
            let output = try hub.target(request.output, .output)
            if input == nil && output == nil {
                throw .noDefaultDevice(request.output == .systemDefault ? .output : .input)
            }
            let client = try PipeWireClient(hub, request, input: input, output: output)
            do throws(AudioDeviceError) {
                try client.open(rate: request.sampleRate ?? Double(hub.graph.sampleRate))
            } catch {
                client.close()
                throw error
            }
            return client
        }
        return PipeWireDevice(client)
    }
}

extension PipeWireSystem: RecordPermissionSource {
    /// Returns the permission by the mute and the volume that the user has set.
    package func recordPermission(ofListed device: AudioDeviceDescription) -> RecordPermission {
        let hub = hub
        let volume = hub.loop.locked { hub.graph.deviceNode(named: device.id).flatMap { hub.graph.volumes[$0] } }
        guard let volume else { return .granted }
        return volume.isMuted ? .denied(.muted) : volume.isZero ? .denied(.zeroVolume) : .granted
    }

    /// Always nil: a server that hides devices from a program does not tell.
    package func recordPermissionWithoutDevice() -> RecordPermission? { nil }
}

extension PipeWireHub {
    /// Returns the device of a request's side; nil if the side is left out or there is no default. Under the lock.
    func target(
        _ side: AudioDeviceRequest.Side, _ direction: AudioDirection
    ) throws(AudioDeviceError) -> PipeWireClient.Target? {
        let devices = registry.devices
        let isDefault = direction == .input ? \AudioDeviceDescription.isDefaultInput : \.isDefaultOutput
        switch side {
        case .none: return nil
        case .systemDefault:
            guard let device = devices.first(where: { $0[keyPath: isDefault] }) else { return nil }
            return graph.deviceNode(named: device.id).map { .init(node: $0, name: device.name) }
        case .device(let id):
            let device = try devices.device(named: id, direction)
            let name = device.form == .monitor ? String(id.dropLast(PipeWireGraph.monitorID(of: "").count)) : id
            guard device.id == id, let node = graph.deviceNode(named: name) else {
                throw .noDevice(name: id, near: [device.name])
            }
            return .init(node: node, name: device.name)
        }
    }
}
