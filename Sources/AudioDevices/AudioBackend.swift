// SPDX-License-Identifier: Apache-2.0

/// A kind of sound system that a device can belong to.
public enum AudioBackend: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// A PipeWire server, by its own protocol.
    case pipewire
    /// A JACK server.
    case jack
    /// The kernel's sound cards, without a server.
    case alsa
    /// Sound cards in this process, without hardware.
    case simulated

    /// The display name.
    public var description: String {
        switch self {
        case .pipewire: "PipeWire"
        case .jack: "JACK"
        case .alsa: "ALSA"
        case .simulated: "simulated"
        }
    }
}
