// SPDX-License-Identifier: Apache-2.0

extension PlayoutConfiguration {
    /// The same stream for a second listener, who may be late and would miss nothing: a recorder.
    ///
    /// It has a playout of its own, whose queue is the ``PacketQueue/second`` of the ears': both get the same packets, and share
    /// nothing else. A third thread may pull it, at leisure, giving the cycles that the device's callback had, in their order
    /// and with their times: what comes out does not depend on when. 2 s of packets, 2,048 at most, wait for it; what comes when they are
    /// full is lost to the recording, and counted (``PacketQueue/rejectedPackets``).
    /// - Parameter depth: seconds that it is behind the promptest packet, 0.001 to 1. It never changes, and nothing that was heard
    ///   is repeated or left out for the delay's sake: if the way becomes another, the resampler follows by 0.9 cents at most.
    package func forRecording(depth: Double = 0.5) -> PlayoutConfiguration {
        var configuration = self
        configuration.dial = .listen
        configuration.fixedDepth = max(0.001, min(1, depth))
        configuration.isPulledLater = true
        return configuration
    }
}
