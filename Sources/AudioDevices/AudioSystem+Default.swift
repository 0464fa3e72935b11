// SPDX-License-Identifier: Apache-2.0

/// Creates the sound systems of this machine.
public enum AudioSystems {
    /// The sound systems to try without a request, the preferred one first. Simulated cards are used only on request.
    public static let preference: [AudioBackend] = [.pipewire, .jack, .alsa]

    /// Returns the requested sound system, running or not (see ``AudioSystem/failure``); without a request the first of
    /// ``preference`` that runs. May take a second; not for the render thread.
    ///
    /// A running system is returned even without a device, since devices may be plugged in.
    /// - Parameters:
    ///   - backend: the requested kind of sound system; nil for the first of ``preference`` that runs.
    ///   - server: the socket's name or path for PipeWire, the server's name for JACK; nil for the environment's or the default.
    ///     Other sound systems ignore it.
    /// - Throws: ``AudioDeviceError/noSystem`` if none was requested and none runs, or ``AudioDeviceError/notPermitted(device:)``
    ///   if there are only sound cards that the user may not open; errors of the system's initializer.
    public static func make(
        _ backend: AudioBackend? = nil, server: String? = nil
    ) throws(AudioDeviceError) -> any AudioSystem {
        if let backend { return try system(backend, server) }
        var refusal: AudioDeviceError?
        for backend in preference {
            guard let system = try? system(backend, server) else { continue }
            guard let failure = system.failure else { return system }
            if case .notPermitted = failure { refusal = failure }
        }
        throw refusal ?? .noSystem
    }

    private static func system(
        _ backend: AudioBackend, _ server: String?
    ) throws(AudioDeviceError) -> any AudioSystem {
        switch backend {
        case .pipewire: return try PipeWireSystem(remote: server)
        case .jack: return JACKSystem(serverName: server)
        case .alsa: return ALSASystem()
        case .simulated: return SimulatedSystem.standard()
        }
    }
}
