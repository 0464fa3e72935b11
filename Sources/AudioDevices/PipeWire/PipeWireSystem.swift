// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The devices of a PipeWire server, natively.
///
/// It has its own thread and connection, and two more with each open device. While no server answers it tries again four times a
/// second. A session manager (wireplumber) names the defaults; without one there are none.
package final class PipeWireSystem: AudioDucking {
    let hub: PipeWireHub

    /// Connects, and returns when the list is there, or after a second at most.
    /// - Parameter remote: the server's socket: a path, or a name in `PIPEWIRE_RUNTIME_DIR` or `XDG_RUNTIME_DIR`, and then in
    ///   `/run/pipewire`; nil for the session's own, which is `PIPEWIRE_REMOTE`'s or `pipewire-0`.
    /// - Throws: ``AudioDeviceError/noThread(code:)``, ``AudioDeviceError/callFailed(_:call:code:)``. That no server answers
    ///   is not thrown: ``failure`` says so.
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

    /// PipeWire.
    package var backend: AudioBackend { .pipewire }
    /// Sinks and sources, and after them what each sink plays, as an input with the id `NAME.monitor`, which is never a default;
    /// a program's streams are none. wireplumber's stand-in for a machine without a
    /// loudspeaker (`auto_null`) is left out.
    package var registry: AudioDeviceRegistry { hub.registry }
    /// ``AudioDeviceError/noServer(_:server:onPipeWire:)`` while no server answers, and
    /// ``AudioDeviceError/otherUsersServer(_:socket:owner:)`` if its socket is another user's.
    package var failure: AudioDeviceError? { hub.failure }

    /// Makes every other program's stream quieter, also those that begin later and those on a server that was started again,
    /// until the result is ended, which takes a moment, or freed. Any thread but the render thread.
    ///
    /// Their volumes, as their users see and set them, stay. Programs that speak JACK's protocol to PipeWire have none, and
    /// go on as they are. Should this program be killed meanwhile, what plays then stays quiet until it ends or its volume is
    /// touched; nothing of it is remembered.
    /// - Parameter gain: a factor from 0 to 1, to which others are clamped; not a number is 1.
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

    /// Joins the graph with ports linked to the devices', and returns when it runs. The devices are in use from then on, with
    /// silence until the start.
    ///
    /// Devices of different clocks need nothing: the server resamples the one that does not drive. What a sink plays can be
    /// recorded from the id `NAME.monitor`. PipeWire has no exclusive use of a device by a filter:
    /// ``AudioDeviceRequest/isExclusive`` is passed on as `node.exclusive`, which wireplumber looks at only in streams that it
    /// links itself, so others are mixed in all the same.
    /// - Throws: ``failure``'s, ``AudioDeviceError/noDevice(name:near:)``, ``AudioDeviceError/noDefaultDevice(_:)``,
    ///   ``AudioDeviceError/unsupportedFormat(detail:)``, ``AudioDeviceError/deviceGone(name:)`` if it disappeared meanwhile,
    ///   ``AudioDeviceError/portFailed(name:)``, ``AudioDeviceError/stalled(device:seconds:)`` if the graph does not run or a
    ///   device does not answer, ``AudioDeviceError/serverGone(_:reason:)``, ``AudioDeviceError/callFailed(_:call:code:)``.
    package func open(_ request: AudioDeviceRequest) throws(AudioDeviceError) -> any AudioDevice {
        let request = try request.validated()
        if request.input == .none && request.output == .none {
            throw .unsupportedFormat(detail: "neither input nor output")
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

extension PipeWireHub {
    /// The node that a side of a request means; nil if it is left out. Locked.
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
