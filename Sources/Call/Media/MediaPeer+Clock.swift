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

    /// Sends a report that is due. On a slow link send times and reports are left out, because the sound needs the room.
    func tickClock(at now: HostTime, isOpen: Bool, _ transmit: (UnsafeRawBufferPointer) -> Void) {
        if isOpen { clock?.settle(at: now, isSlow: rate.policy.rung > 0, isQueueing: rate.meter.isQueueing) }
        sender.writesSendTimes = isOpen && clock?.isSettled == true
        guard let report = clock?.takeReport(at: now), sender.writesSendTimes else { return }
        sender.report(report, transmit)
    }
}
