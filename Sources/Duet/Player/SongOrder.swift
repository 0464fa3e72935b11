// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A change of the song's playback at a host time.
package struct SongOrder: BitwiseCopyable, Hashable, Sendable {
    /// The ring frame to play from; negative for the one where the song stopped.
    package var ringFrame: Int
    /// False to stop.
    package var isPlaying: Bool
    /// The time at which the ring frame leaves the output converter, or the song stops there.
    package var hostTime: HostTime

    package static func start(ringFrame: Int, at hostTime: HostTime) -> SongOrder {
        SongOrder(ringFrame: ringFrame, isPlaying: true, hostTime: hostTime)
    }
    /// Stops, so that ``resume(at:)`` continues with the next frame.
    package static func stop(at hostTime: HostTime) -> SongOrder {
        SongOrder(ringFrame: -1, isPlaying: false, hostTime: hostTime)
    }
    package static func resume(at hostTime: HostTime) -> SongOrder {
        SongOrder(ringFrame: -1, isPlaying: true, hostTime: hostTime)
    }
}
