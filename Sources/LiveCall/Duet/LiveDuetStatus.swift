// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet
import EarshotNearby
import EarshotRooms

/// The state of a call's duet for faces.
package struct LiveDuetStatus: Sendable {
    /// The agreement, the playback and the other singers.
    package var duet: DuetStatus<MemberID>
    /// The part of the song's file that has arrived, 0 to 1; nil unless it is arriving.
    package var arrivedPart: Double?
    /// The folder of the attempt; nil before its recording.
    package var folder: String?
    /// The singers whose stems of the attempt are in the folder, this one included.
    package var presentStems: Set<MemberID> = []
    /// The mix of the attempt; nil until it is complete.
    package var mixPath: String?
    /// True while stems are made, exchanged and mixed.
    package var isBusy = false
    /// The failures so far, in order.
    package var problems: [DuetProblem] = []
}

/// A failure in a duet. The call goes on.
package enum DuetProblem: Error, Sendable {
    /// The song's file cannot be played, or not to its end.
    case song(AudioFileError)
    /// The song's file cannot be read.
    case unreadable(path: String, code: Int32)
    /// The song's file has more than this many bytes.
    case tooLarge(path: String, limit: Int64)
    /// The song is longer than this many seconds.
    case tooLong(path: String, limit: Double)
    /// The song's thread cannot be started; an errno.
    case system(code: Int32)
    /// The call has no sound.
    case noSound
    /// A file did not arrive.
    case notReceived(name: String, TransferError)
    /// A file did not reach a singer.
    case notSent(name: String, to: MemberID, TransferError)
    /// The attempt cannot be recorded.
    case recording(CommandRefusal)
    /// The folder of the duet cannot be written.
    case folder(path: String, code: Int32)
    /// The folder of the attempt cannot be made.
    case files(DuetFolderError)
    /// A singer's stem cannot be used; nil for the local one.
    case stem(of: MemberID?, any Error)
    /// The mix cannot be written.
    case mix(any Error)
}
