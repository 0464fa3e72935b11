// SPDX-License-Identifier: Apache-2.0

/// The reason that a simulation cannot run.
package enum SimulationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of peers is not 2 to 8.
    case peerCount(Int)
    /// The sound file at this path contains no audio.
    case noSound(String)
    /// The mixer of the peer with this index is full.
    case full(Int)

    /// One sentence that says what happened.
    package var description: String {
        switch self {
        case .peerCount(let count): "a call of \(count) cannot be simulated, only one of 2 to 8"
        case .noSound(let path): "\(path) contains no audio"
        case .full(let peer): "peer \(peer + 1) has no place for one more voice"
        }
    }
}
