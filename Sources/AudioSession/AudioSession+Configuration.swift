// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

extension AudioSession {
    /// The program's use of sound, with AVAudioSession's names.
    public enum Category: String, Hashable, Sendable, CaseIterable {
        /// Captures sound only.
        case record
        /// Plays sound only. By default the session pauses when its headphones are unplugged, so that the loudspeaker does not
        /// play on.
        case playback
        /// Captures and plays sound. By default the session continues on another device when its headphones are unplugged.
        case playAndRecord
    }

    /// The treatment of other programs' sound while the session is active.
    public enum OtherAudio: String, Hashable, Sendable, CaseIterable {
        /// Other programs' sound continues unchanged.
        case mix
        /// Other programs' sound is 14 dB softer on PipeWire (`AudioDucking`), elsewhere unchanged.
        ///
        /// If this program crashes, sound that was playing stays soft until it ends or the user sets its volume.
        case duck
        /// Asks the desktop's media players that are playing to pause (MPRIS, on the session bus), on any sound system. The last
        /// session of this process to end asks them to play again if they are still paused. Without a session bus, and for
        /// programs without MPRIS, nothing happens. Players that start later are not paused. After a crash of this program the
        /// paused players stay paused.
        case pause
        /// Only this program is heard on the device, if the sound system supports that.
        ///
        /// - ALSA: a card opened as `hw:` belongs to this program alone in any case: if others use it, opening throws
        ///   `AudioDeviceError.busy`. A device behind a plug-in (`dmix`, `pipewire`) is still shared.
        /// - PipeWire has no exclusive use: every other program's stream is muted, on all devices, in the way of ``duck``. Other
        ///   programs may still record.
        /// - JACK: no effect. All connected programs are heard.
        /// - Simulated cards: no other program may open them. If one has, opening throws `AudioDeviceError.busy`.
        case exclude
    }

    /// The settings of a session. They are preferences; ``AudioSession/device`` and ``AudioSession/currentRoute`` show the
    /// result.
    public struct Configuration: Hashable, Sendable {
        /// The program's use of sound.
        public var category = Category.playAndRecord
        /// The treatment of other programs' sound.
        public var otherAudio = OtherAudio.mix
        /// The preferred sample rate in hertz; nil for the first device's rate. The sound of later devices with another rate is
        /// converted.
        public var preferredSampleRate: Double?
        /// The preferred duration of each callback's frames in seconds.
        public var preferredIOBufferDuration = 0.005
        /// The preferred frames of each callback; nil to use ``preferredIOBufferDuration``.
        public var preferredBlockFrameCount: Int?
        /// The id of the preferred input device; nil for the system's default. While the device is missing, the default is used.
        public var preferredInput: String?
        /// The id of the preferred output device; nil for the system's default. While the device is missing, the default is used.
        public var preferredOutput: String?
        /// The number of buffers in each cycle's `input`; with ``Category/playback`` there are none.
        public var inputChannelCount = 1
        /// The number of buffers in each cycle's `output`; with ``Category/record`` there are none.
        public var outputChannelCount = 2
        /// The device's channel for each of a cycle's inputs: see ``AudioDevices/AudioDeviceRequest/inputChannelMap``.
        public var inputChannelMap: [Int]?
        /// The device's channel for each of a cycle's outputs: see ``AudioDevices/AudioDeviceRequest/outputChannelMap``.
        public var outputChannelMap: [Int]?
        /// The client's name in the sound system, shorter than 64 bytes.
        public var clientName = "earshot"
        /// True if the session pauses when its headphones are unplugged; nil for true only if the category is
        /// ``Category/playback``.
        public var pausesWhenHeadphonesLeave: Bool?

        /// Creates a configuration that plays and records on the default devices, with 5 ms per callback.
        public init() {}

        /// The number of input buffers with this category.
        package var effectiveInputCount: Int { category == .playback ? 0 : inputChannelCount }
        /// The number of output buffers with this category.
        package var effectiveOutputCount: Int { category == .record ? 0 : outputChannelCount }
        var pauses: Bool { pausesWhenHeadphonesLeave ?? (category == .playback) }
    }
}
