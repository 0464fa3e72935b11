// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotNearby
import EarshotRooms

/// The reason that a call ended.
public enum LiveCallEnding: Error, Hashable, Sendable {
    /// The local participant left.
    case left
    /// ``LiveCall/Configuration/duration`` has passed.
    case duration
    /// All other participants left, and this call does not continue alone.
    case alone
    /// The last other participant was lost, and this call does not continue alone.
    case lastParticipantLost(PeerName)
    /// The local participant could not join the room or lost its place in it, or the room was closed.
    case room(RoomEnding)
    /// The room could not be opened or joined because of an error on this machine.
    case session(NearbyError)
    /// The device could not be started.
    case device(AudioDeviceError)
    /// The implementation of the device could not prepare the device, and keeps the error.
    case notPrepared
    /// There was no sound for this many seconds.
    case noSound(Interruption, seconds: Double)
    /// The codec failed.
    case codec(CodecError)
    /// No remote participant supports a format of this guest. Formats are written as in SDP: `opus/48000/2`.
    case noCommonFormat(local: [String], remote: [String])
}

/// The reason that a call could not be opened.
public enum LiveCallOpeningError: Error, Hashable, Sendable {
    /// The sound device failed.
    case device(AudioDeviceError)
    /// The port, the key or the store failed.
    case session(NearbyError)
}
