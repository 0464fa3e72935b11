// SPDX-License-Identifier: Apache-2.0

extension PlayoutConfiguration {
    /// Returns the configuration of the same stream for a second listener that may be late and should miss nothing: a recorder.
    ///
    /// Its playout's queue is the ``PacketQueue/second`` of the live one: both get the same packets and share nothing else. A
    /// third thread may pull it at any time, with the cycles of the device's callback in order and with their times: the result
    /// does not depend on when. 2 s of packets, at most 2,048, wait for it; further ones are lost to the recording and counted
    /// (``PacketQueue/rejectedPackets``).
    /// - Parameter depth: the seconds by which playout lags behind the earliest packet, clamped to 0.001…1. The depth never
    ///   changes, and no sound is repeated or removed for it: after a change of route the resampler follows by at most 0.9 cents.
    package func forRecording(depth: Double = 0.5) -> PlayoutConfiguration {
        var configuration = self
        configuration.latencyProfile = .listen
        configuration.fixedDepth = max(0.001, min(1, depth))
        configuration.isPulledLater = true
        return configuration
    }
}
