// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A ``MediaClient`` that estimates its remote peers' clocks. Its packets may have a ``SendTimeExtension``.
package protocol ClockedMediaClient: MediaClient {
    /// Receives an authentic packet of RTP or RTCP; valid during the call.
    /// - Parameter arrived: the time at which the packet reached this machine, at most `now`.
    func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime, arrived: HostTime)
    /// Notes that media with a remote peer flows on another path now.
    func pathChanged(to peer: PeerID)
    /// Notes the seconds of a round trip to a remote peer, as measured by checks.
    func measured(roundTrip: Double, to peer: PeerID)
    /// Notes that the machine slept. Remote peers' clocks may have continued meanwhile.
    func slept()
}
