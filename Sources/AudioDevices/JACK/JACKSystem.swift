// SPDX-License-Identifier: Apache-2.0

/// A sound system with the clients of a JACK server as devices: its hardware, which is the client `system` and the default, and
/// other programs, whose ports can be captured and played to.
///
/// All devices have the server's single block and rate in ``AudioDeviceDescription/blockFrameCounts`` and
/// ``AudioDeviceDescription/sampleRates``. All systems and devices of a process are on one server.
package final class JACKSystem: AudioSystem {
    /// ``AudioBackend/jack``.
    package let backend = AudioBackend.jack
    /// The server's current devices.
    package let registry: AudioDeviceRegistry
    /// The server's name; nil for `JACK_DEFAULT_SERVER`'s or the default server.
    package let serverName: String?
    /// True to connect devices at their start; false to leave that to other programs.
    package let connects: Bool
    private let lister: JACKLister

    /// Connects to the server, trying again every 250 ms while there is none.
    /// - Parameters:
    ///   - serverName: nil for `JACK_DEFAULT_SERVER`'s or the default server.
    ///   - clientName: the name of the client that lists; it has no ports and no part in the server's cycles.
    ///   - connects: false leaves the devices' ports unconnected.
    package init(serverName: String? = nil, clientName: String = "earshot-devices", connects: Bool = true) {
        registry = AudioDeviceRegistry()
        self.serverName = serverName
        self.connects = connects
        lister = JACKLister(serverName: serverName, clientName: clientName, registry: registry)
        lister.start()
    }

    deinit { lister.stop() }

    /// The failure: ``AudioDeviceError/noServer(_:server:onPipeWire:)``, ``AudioDeviceError/refused(_:status:)``,
    /// ``AudioDeviceError/otherServer(open:asked:)``, ``AudioDeviceError/noThread(code:)``; nil for none.
    package var failure: AudioDeviceError? { lister.failure }

    /// Opens a client of the server with ports for the request's channels; ignores `isExclusive` and `ioDuration`.
    /// - Throws: ``failure``; ``AudioDeviceError/noDevice(name:near:)``, ``AudioDeviceError/noDefaultDevice(_:)``;
    ///   ``AudioDeviceError/unsupportedFormat(detail:)`` for a rate or block that is not the server's; errors of ``JACKDevice``.
    package func open(_ request: AudioDeviceRequest) throws(AudioDeviceError) -> any AudioDevice {
        let request = try request.validated()
        lister.refresh()
        if let failure { throw failure }
        let devices = registry.devices
        let input = try devices.jackClient(for: request.input, .input)
        let output = try devices.jackClient(for: request.output, .output)
        let wantsInput = request.input != .none && request.inputChannelCount > 0
        let wantsOutput = request.output != .none && request.outputChannelCount > 0
        // A direction without a device is left out, unless other programs are to connect the ports.
        let hasInput = wantsInput && (input != nil || !connects)
        let hasOutput = wantsOutput && (output != nil || !connects)
        guard wantsInput || wantsOutput else {
            throw .unsupportedFormat(detail: "no input and no output channels")
        }
        guard hasInput || hasOutput else { throw .noDefaultDevice(wantsInput ? .input : .output) }
        let device = try JACKDevice(
            name: request.clientName, serverName: serverName,
            inputChannelCount: hasInput ? request.inputChannelCount : 0,
            outputChannelCount: hasOutput ? request.outputChannelCount : 0, monitor: request.monitor,
            wiring: connects
                ? JACKWiring(
                    input: hasInput ? input : nil, output: hasOutput ? output : nil, inputMap: request.inputChannelMap,
                    outputMap: request.outputChannelMap) : nil)
        if let rate = request.sampleRate, rate != device.sampleRate {
            throw .otherSampleRate(server: device.sampleRate, asked: rate)
        }
        if let block = request.blockFrameCount, block != device.blockFrameCount {
            throw .otherBlock(server: device.blockFrameCount, asked: block)
        }
        return device
    }
}

extension [AudioDeviceDescription] {
    /// Returns the name of the client for a request's side; nil for ``AudioDeviceRequest/Side/none``, or if there is no default.
    fileprivate func jackClient(
        for side: AudioDeviceRequest.Side, _ direction: AudioDirection
    ) throws(AudioDeviceError) -> String? {
        switch side {
        case .none: return nil
        case .systemDefault: return first { direction == .input ? $0.isDefaultInput : $0.isDefaultOutput }?.id
        case .device(let id):
            if contains(where: { $0.id == id && $0.has(direction) }) { return id }
            let near = try device(named: id, direction)
            throw .noDevice(name: id, near: [near.name])
        }
    }
}
