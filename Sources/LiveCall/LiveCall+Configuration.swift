// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotRooms

extension LiveCall {
    /// The settings of a call.
    public struct Configuration: Sendable {
        /// The guests whom the local participant admits while it is the host.
        public var admission = AdmissionPolicy.ask
        /// True if the call continues while no other participant is in the room, as is usual for a host.
        public var staysAlone = false
        /// True if the local participant is muted from the start.
        public var isMuted = false
        /// Seconds from the start of the sound to the end of the call; nil for no limit.
        public var duration: Double?
        /// The seconds of an interruption of the sound after which the call ends.
        public var interruptionTimeout = 30.0
        /// The mode of voice processing.
        public var voiceProcessing = VoiceProcessingMode.auto
        /// The mode of the monitor, by which the local participant hears itself.
        package var monitor = MonitorMode.auto
        /// The answer to other participants who want to record the local voice.
        public var recordingConsent = RecordingConsent.ask
        /// The files of recordings.
        package var recording = CallRecordingSettings()
        /// The folder for the songs and takes of duets; nil for `Earshot` in the user's music folder.
        package var duetFolder: String?
        /// False to hide the songs that the local participant chooses from the announcement of the room, whoever hosts it.
        package var announcesSong = true
        /// False for a silent participant, who follows no duet.
        package var singsDuets = true
        /// The folder for received files; nil to decline them.
        public var receivedFilesFolder: String?

        /// Creates the default settings of a guest.
        public init() {}

        /// The folder for the songs that hosts of duets send.
        var songFolder: String { "\(RecordingFolder.path(of: duetFolder))/\(Self.songFolderName)" }
        static let songFolderName = "Songs"
    }
}
