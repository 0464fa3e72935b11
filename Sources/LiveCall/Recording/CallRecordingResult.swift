// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// A recording in progress.
public struct CallRecordingStatus: Hashable, Sendable {
    /// The absolute path of the folder.
    public var folder: String
    /// The time at which the recording began.
    public var since: HostTime
}

/// A completed recording of a call.
public struct CallRecordingResult: Hashable, Sendable {
    /// The absolute path of the folder.
    public var folder: String
    /// The length in seconds.
    public var seconds: Double
    /// The path of the mix, or of its first part; nil if it could not be written.
    public var mixPath: String?
    /// The paths of the voices, with all parts.
    public var paths: [String]
    /// The seconds of silence in place of sound, in all voices together.
    public var gapSeconds: Double
}

/// The reason that a call could not be recorded, or that a file of its recording ended early.
public enum CallRecordingError: Error, Equatable, Sendable {
    /// The folder could not be created.
    case folder(path: String, code: Int32)
    /// A file ended early. The others go on.
    case file(AudioFileError)
    /// The recording has the maximum number of remote participants. Later ones are not recorded.
    case tooManyParticipants(limit: Int)
    /// No thread could be created; `code` is an errno.
    case system(code: Int32)
    /// A remote voice cannot be decoded a second time.
    case codec(CodecError)
}
