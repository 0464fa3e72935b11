// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

extension AudioSession {
    /// The use of sound; AVAudioSession's word.
    public enum Category: String, Hashable, Sendable, CaseIterable {
        /// Captures only.
        case record
        /// Plays only. Pauses when headphones are pulled, so that the sound does not go on from the loudspeaker.
        case playback
        /// Does both at once. When headphones are pulled it moves on.
        case playAndRecord
    }

    /// The treatment of other programs' sound while the session is active.
    public enum OtherAudio: String, Hashable, Sendable, CaseIterable {
        /// It goes on beside ours.
        case mix
        /// It goes on 14 dB lower, on PipeWire (`AudioDucking`); elsewhere as it is.
        ///
        /// After a crash of this program what played then stays quiet until it ends or its volume is touched.
        case duck
        /// The desktop's players that play are asked to pause (MPRIS, on the session bus), and those that still do to go on
        /// afterwards; with the last session of this process that asked them. Whatever sound system it is. Without a bus, and
        /// with a program that is no such player, nothing happens. Players that begin later go on, and after a crash of this
        /// program those that paused stay so.
        case pause
        /// Only this program is heard at the device, if the sound system supports that.
        ///
        /// - ALSA: a card opened as `hw:` is this program's alone, asked for or not: while others have it, opening throws
        ///   `AudioDeviceError.busy`. What is behind a plug-in (`dmix`, `pipewire`) is shared all the same.
        /// - PipeWire has no exclusive use: every other program's stream is silenced, on whatever device, as with ``duck``.
        ///   They may still record.
        /// - JACK: nothing. All connected programs are heard.
        /// - Simulated cards: no other program may open them; opening throws `AudioDeviceError.busy` if one has.
        case exclude
    }

    /// The wishes of a session; its device and route say what was granted.
    public struct Configuration: Hashable, Sendable {
        /// The use of sound.
        public var category = Category.playAndRecord
        /// The treatment of other programs' sound.
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
        /// The client's name in the sound system; shorter than 64 bytes.
        public var clientName = "earshot"
        /// True if the session pauses when its headphones are removed; nil means: if the category is playback.
        public var pausesWhenHeadphonesLeave: Bool?

        /// Plays and records on the default devices, 5 ms a call.
        public init() {}

        /// Buffers that the category leaves of ``inputChannelCount``.
        package var effectiveInputCount: Int { category == .playback ? 0 : inputChannelCount }
        /// Buffers that the category leaves of ``outputChannelCount``.
        package var effectiveOutputCount: Int { category == .record ? 0 : outputChannelCount }
        var pauses: Bool { pausesWhenHeadphonesLeave ?? (category == .playback) }
    }
}
