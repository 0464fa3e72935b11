// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioFiles
import EarshotAudioSession
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotPlayout
import EarshotRooms

extension LiveCallCore {
    /// An input of the core.
    package enum Event: Sendable {
        case room(NearbyEvent)
        /// The room could not be opened or joined.
        case roomFailed(NearbyError)
        case joinCodes([JoinCode])
        /// The volumes that are remembered from earlier calls.
        case volumes(PeerVolumes)
        case soundStarted(CallDevice)
        case soundFailed(LiveCallEnding)
        case device(AudioSessionEvent, CallDevice)
        /// A regular observation of media and device.
        case observation(Observation)
        case message(ChatMessage)
        /// The number of messages waiting for delivery.
        case unsentMessages(Int)
        case messagesLost(to: PeerName, count: Int, reason: String)
        case streamRefused(from: PeerName?, stream: String)
        case transfer(FileTransfer)
        case recordingStarted(folder: String)
        /// The recording could not begin, or one of its files ended early; `isOver` is true if nothing is recorded.
        case recordingFailed(CallRecordingError, isOver: Bool)
        case recordingEnded(CallRecordingResult)
        case accompaniment(AccompanimentReport)
        /// The duet changed; nil if it has ended.
        case duet(LiveDuetStatus?)
        /// A file or a playlist of the accompaniment cannot be played, or not to its end.
        case accompanimentFailed(AudioFileError)
        /// The room is closed, and everything that arrived was reported.
        case roomClosed
    }

    /// The observed state of media and device at one time.
    package struct Observation: Sendable {
        package var calls: [MemberID: Media] = [:]
        package var failure: CodecError?
        package var microphone = MicrophoneCheck.Finding.fine
        package var feedback = FeedbackReport()
        package var device: CallDevice?
        package var hardwareBlockFrameCount = 0
        package var interruption: (kind: Interruption, since: HostTime)?
        package var voice: Voice?
        /// The seconds by which the processing of the local voice delays it.
        package var voiceLatency = 0.0
        /// The singers of the duet in the same room.
        package var nearbySingers: Set<MemberID> = []

        /// The call with a remote participant.
        package struct Media: Sendable {
            package var format: CallConfiguration
            package var rate: RateState?
            /// The codecs that the participant does not offer or did not choose.
            package var missingCodecs: Set<Codec> = []
            /// The seconds from the participant's mouth to the local ear; nil while unknown.
            package var mouthToEar: Double?

            package init(
                format: CallConfiguration, rate: RateState? = nil, missingCodecs: Set<Codec> = [],
                mouthToEar: Double? = nil
            ) {
                self.format = format
                self.rate = rate
                self.missingCodecs = missingCodecs
                self.mouthToEar = mouthToEar
            }
        }

        /// The observed state of voice processing.
        package struct Voice: Sendable {
            package var processing: CallVoice.Processing
            package var channelCount: Int
            package var maximumBlockFrameCount: Int
            /// The delay of voice processing in seconds, while it is on.
            package var latency: Double

            package init(
                processing: CallVoice.Processing, channelCount: Int, maximumBlockFrameCount: Int, latency: Double
            ) {
                self.processing = processing
                self.channelCount = channelCount
                self.maximumBlockFrameCount = maximumBlockFrameCount
                self.latency = latency
            }
        }

        package init() {}
    }

    /// An output of the core, to be executed in order.
    package enum Action: Sendable {
        case room(RoomAction)
        case media(MediaAction)
        case notify(LiveCallEvent)
        /// Sends a message to these participants.
        case say(String, to: [Participant])
        case sendFile(FileTransfer, path: String, to: [Participant])
    }

    /// An action for the room.
    package enum RoomAction: Sendable {
        case host(RoomOpening, AdmissionPolicy)
        case join(Endpoint, PIN?, Purpose?)
        case provide(PIN)
        case decide(JoinRequestID, isAdmitted: Bool)
        case blockRequest(JoinRequestID)
        case remove(MemberID)
        case block(MemberID)
        case setAdmission(AdmissionPolicy)
        case notify(ParticipantNotice)
        /// Stores volumes for later calls.
        case storeVolumes([PeerVolumes.Entry])
        /// Negotiates media with these members again.
        case renegotiate([MemberID])
        case readJoinCodes
        case close(endsRoom: Bool)
    }

    /// A change of the local participant for the others in the room; nil for no change.
    package struct ParticipantNotice: Hashable, Sendable {
        package var name: PeerName?
        package var isMuted: Bool?
        package var isRecording: Bool?
        package var allowsRecording: Bool?
    }

    /// An action for media and device.
    package enum MediaAction: Sendable {
        case start
        case stop
        case setMuted(Bool)
        /// Sets the playback gain of a participant, also before and after its media are negotiated.
        case setGain(Float, of: MemberID)
        case setOutputVolume(Float)
        case setLatencyProfile(LatencyProfile)
        case setVoiceProcessing(Bool)
        case setMonitor(Bool, delay: Double)
        /// Replaces the effects of the local voice; nil for none.
        case setEffects(PreparedEffects?)
        /// Changes a parameter of the effects that were set last.
        case setEffectParameter(Int, ofEffect: Int, to: Float)
        /// Starts a recording; nil for the default folder.
        case startRecording(folder: String?)
        case stopRecording
        /// Gives an order to the accompaniment; its reports have the number of the order.
        case accompany(AccompanimentOrder, number: Int)
    }
}
