// SPDX-License-Identifier: Apache-2.0

/// A kind of sound system that a device can belong to.
public enum AudioBackend: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// A PipeWire server, reached by PipeWire's own protocol rather than JACK's.
    case pipewire
    /// A JACK server.
    case jack
    /// ALSA: the kernel's sound cards without a server, and the PCMs of ALSA's configuration.
    case alsa
    /// Simulated sound cards in this process, without hardware.
    case simulated

    /// The sound system's name, as shown to users.
    public var description: String {
        switch self {
        case .pipewire: "PipeWire"
        case .jack: "JACK"
        case .alsa: "ALSA"
        case .simulated: "simulated"
        }
    }
}
