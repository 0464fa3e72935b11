import AudioDevices

extension AudioSession {
    /// What a program wants sound for; AVAudioSession's word.
    public enum Category: String, Hashable, Sendable, CaseIterable {
        /// Captures only.
        case record
        /// Plays only. When headphones are pulled it pauses: nobody wants the rest from the loudspeaker.
        case playback
        /// Does both at once. When headphones are pulled it moves on.
        case playAndRecord
    }

    /// What becomes of other programs' sound while the session is active.
    public enum OtherAudio: String, Hashable, Sendable, CaseIterable {
        /// It goes on beside ours.
        case mix
        /// It goes on at a lower volume, where the sound system can do that.
        case duck
        /// Players are asked to pause, and to go on afterwards, where the desktop can ask them.
        case pause
        /// Nobody else may use the device, where the sound system knows of such a thing.
        case exclude
    }

    /// What is wanted of a session; what was granted is what its device and route say.
    public struct Configuration: Hashable, Sendable {
        /// What sound is wanted for.
        public var category = Category.playAndRecord
        /// What becomes of other programs' sound.
        public var otherAudio = OtherAudio.mix
        /// Hertz; nil leaves it to the first device. Later devices of another rate are converted.
        public var preferredSampleRate: Double?
        /// Seconds that a call's frames shall last.
        public var preferredIOBufferDuration = 0.005
        /// Frames a call; goes before ``preferredIOBufferDuration``.
        public var preferredBlockFrameCount: Int?
        /// A device's id; nil follows the system's default. While it is away the default stands in.
        public var preferredInput: String?
        /// A device's id; nil follows the system's default. While it is away the default stands in.
        public var preferredOutput: String?
        /// Buffers in each cycle's `input`; 0 with ``Category/playback``.
        public var inputChannelCount = 1
        /// Buffers in each cycle's `output`; 0 with ``Category/record``.
        public var outputChannelCount = 2
        /// See ``AudioDevices/AudioDeviceRequest/inputChannelMap``.
        public var inputChannelMap: [Int]?
        /// See ``AudioDevices/AudioDeviceRequest/outputChannelMap``.
        public var outputChannelMap: [Int]?
        /// What others see where the system names its clients; shorter than 64 bytes.
        public var clientName = "earshot"
        /// Whether the session pauses when the headphones it plays through are gone; nil: where the category is playback.
        public var pausesWhenHeadphonesLeave: Bool?

        /// Plays and records on the default devices, 5 ms a call.
        public init() {}

        /// Buffers that the category leaves of ``inputChannelCount``.
        public var effectiveInputCount: Int { category == .playback ? 0 : inputChannelCount }
        /// Buffers that the category leaves of ``outputChannelCount``.
        public var effectiveOutputCount: Int { category == .record ? 0 : outputChannelCount }
        var pauses: Bool { pausesWhenHeadphonesLeave ?? (category == .playback) }
    }
}
