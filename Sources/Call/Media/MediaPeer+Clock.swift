// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// Estimates the remote peer's clock from the send times of packets.
extension MediaPeer {
    /// Continues the estimate of the same remote peer's previous media.
    func followClock(of previous: MediaPeer) {
        if clock != nil, let before = previous.clock { clock = before }
    }

    /// Reads the remote peer's report on local send times.
    func learnClock(at now: HostTime) {
        if let report = sender.session.takeTimeReport() { clock?.addReport(report, at: now) }
    }

    /// Sends a report that is due. Send times and reports are part of the first rung only: on a slow link the sound needs the room.
    func tickClock(at now: HostTime, isOpen: Bool, _ transmit: (UnsafeRawBufferPointer) -> Void) {
        sender.writesSendTimes = rate.policy.rung == 0
        guard let report = clock?.takeReport(at: now), isOpen, sender.writesSendTimes else { return }
        sender.report(report, transmit)
    }
}
