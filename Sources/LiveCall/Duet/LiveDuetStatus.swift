// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotAudioStreams
import EarshotDuet
import EarshotNearby
import EarshotRooms

/// The state of a call's duet for faces.
public struct LiveDuetStatus: Sendable {
    /// The agreement, the playback and the other singers.
    package var duet: DuetStatus<MemberID>
    /// The part of the song's file that has arrived, 0 to 1; nil unless it is arriving.
    package var arrivedPart: Double?
    /// The song's guide vocal; nil without one.
    package var guide: Guide?
    /// The singers whose stems of the attempt are in its folder, this one included.
    package var presentStems: Set<MemberID> = []
    /// The other singers who agreed to the attempt.
    package var singers: Set<MemberID> = []
    /// The mix of the attempt; nil until it is complete.
    package var mixPath: String?
    /// The preset of that mix.
    package var mixPreset = MixPreset.standard
    /// The preset of the next mix, which may be in the making.
    package var preset = MixPreset.standard
    /// The balance of the next mix, and of the complete one.
    package var balance = MixBalance()
    package var mixBalance = MixBalance()
    /// The complete mixes of all attempts, in order.
    package var mixPaths: [String] = []
    /// The singers whose voices are missing in a mix, by its path.
    package var missingVoices: [String: Set<MemberID>] = [:]
    /// The present singers whose stems may still arrive, and those who do not have the local stem yet.
    package var awaitedSingers: Set<MemberID> = []
    package var receivers: Set<MemberID> = []
    /// True while stems are made, mixed, and exchanged with singers who are present.
    package var isBusy = false
    /// True while the local voice is made, and sent to singers who are present.
    package var isSending = false
    /// True if an attempt has no mix yet.
    package var isUnfinished = false
    /// True if another singer's loudspeaker in the same room plays the song, and the local one is silent.
    package var isSongElsewhere = false
    /// The failures so far, in order.
    package var problems: [DuetProblem] = []

    /// The guide vocal of the song, as the local singer hears it.
    package struct Guide: Hashable, Sendable {
        /// A factor, 0 to 1.
        package var gain: Float
        /// True once its file is here.
        package var isHere: Bool
        /// The part of its file that has arrived, 0 to 1; nil unless it is arriving.
        package var arrivedPart: Double?
    }
}

/// A failure in a duet. The call goes on.
package enum DuetProblem: Error, Sendable {
    /// The host's next song was not exchanged for the present one.
    case notChosen(DuetRefusal)
    /// The song's file cannot be played, or not to its end.
    case song(AudioFileError)
    /// The song did not arrive from the network.
    case download(FileDownload.Failure)
    /// The file at an address cannot be played.
    case notSound(address: String)
    /// The song's file cannot be read.
    case unreadable(path: String, code: Int32)
    /// The song's file has more than this many bytes.
    case tooLarge(path: String, limit: Int64)
    /// The song is longer than this many seconds.
    case tooLong(path: String, limit: Double)
    /// The song is shorter than this many seconds.
    case tooShort(path: String, limit: Double)
    /// The end of the song's file is missing. It has so many seconds, which can be sung.
    case cutOff(name: String, duration: Double)
    /// The guide vocal cannot be played. The song goes on without it.
    case guide(AudioFileError)
    /// The guide vocal is as long as another song; in seconds.
    case guideLength(path: String, seconds: Double, song: Double)
    /// The guide vocal is the song itself.
    case guideIsSong(path: String)
    /// The song's thread cannot be started; an errno.
    case system(code: Int32)
    /// The call has no sound.
    case noSound
    /// The host sends more songs than a call receives, in bytes.
    case tooManySongs(limit: Int64)
    /// A file did not arrive.
    case notReceived(name: String, TransferError)
    /// A file did not reach a singer.
    case notSent(name: String, to: MemberID, TransferError)
    /// The attempt cannot be recorded.
    case recording(CommandRefusal)
    /// The recording of the attempt has ended early. The local singer has left the attempt.
    case recordingLost
    /// The folder of the duet cannot be written.
    case folder(path: String, code: Int32)
    /// A singer's stem, or a part of the local one (nil), cannot be used.
    case stem(of: MemberID?, any Error)
    /// The local stem cannot be made.
    case ownStem(any Error)
    /// The mix cannot be written.
    case mix(any Error)
}
