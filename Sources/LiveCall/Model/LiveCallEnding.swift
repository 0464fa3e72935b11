// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotNearby
import EarshotRooms

/// The reason why a call is over.
public enum LiveCallEnding: Error, Hashable, Sendable {
    /// The local participant left.
    case left
    /// ``LiveCall/Configuration/duration`` is over.
    case duration
    /// All others left, and this call does not stay alone.
    case alone
    /// The last of the others was lost, and this call does not stay alone.
    case lastParticipantLost(PeerName)
    /// The room could not be entered, or removed this participant.
    case room(RoomEnding)
    /// The room could not be opened.
    case session(NearbyError)
    /// The device could not be started.
    case device(AudioDeviceError)
    /// The device's owner could not prepare it; it knows the error.
    case notPrepared
    /// There was no sound for that many seconds.
    case noSound(Interruption, seconds: Double)
    /// The codec failed.
    case codec(CodecError)
    /// No remote participant takes a format that this guest offers. Formats are written as in SDP: `opus/48000/2`.
    case noCommonFormat(local: [String], remote: [String])
}

/// The reason why a call could not be opened.
public enum LiveCallOpeningError: Error, Hashable, Sendable {
    /// The sound device.
    case device(AudioDeviceError)
    /// The port, the key or the store.
    case session(NearbyError)
}
