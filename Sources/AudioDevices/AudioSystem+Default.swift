/// Makes the sound systems of this machine.
public enum AudioSystems {
    /// Where a machine's sound is looked for, best first; simulated cards are only taken when asked for.
    public static let preference: [AudioBackend] = [.pipewire, .jack, .alsa]

    /// The sound system that is asked for, running or not (``AudioSystem/failure`` tells), or the first of ``preference``
    /// that runs and has a device; failing that, the first that runs. May take some 100 ms; not for the render thread.
    /// - Parameters:
    ///   - backend: nil for the best.
    ///   - server: of PipeWire the socket's name or path, of JACK the server's name; nil is the environment's or the default.
    /// - Throws: ``AudioDeviceError/noServer(_:server:onPipeWire:)`` when no system runs.
    public static func make(
        _ backend: AudioBackend? = nil, server: String? = nil
    ) throws(AudioDeviceError) -> any AudioSystem {
        if let backend { return try system(backend, server) }
        var empty: (any AudioSystem)?
        for backend in preference {
            guard let system = try? system(backend, server), system.failure == nil else { continue }
            if !system.devices.isEmpty { return system }
            if empty == nil { empty = system }
        }
        guard let empty else { throw .noServer(.pipewire, server: server, onPipeWire: false) }
        return empty
    }

    private static func system(
        _ backend: AudioBackend, _ server: String?
    ) throws(AudioDeviceError) -> any AudioSystem {
        switch backend {
        case .jack: return JACKSystem(serverName: server)
        case .simulated: return SimulatedSystem.standard()
        case .pipewire, .alsa: throw .noServer(backend, server: server, onPipeWire: false)
        }
    }
}
