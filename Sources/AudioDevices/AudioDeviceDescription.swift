// SPDX-License-Identifier: Apache-2.0

/// A sound system's description of one of its devices.
public struct AudioDeviceDescription: Hashable, Sendable, Identifiable {
    /// The attachment of a device; Core Audio's transport type.
    public enum Transport: String, Hashable, Sendable, CaseIterable {
        /// Part of the machine.
        case builtIn
        case usb
        case bluetooth
        /// A screen or amplifier on a display cable.
        case hdmi
        /// Software, with no converter behind it.
        case virtual
        case unknown
    }

    /// The form that the person sees.
    public enum Form: String, Hashable, Sendable, CaseIterable {
        case speaker
        case headphones
        /// Headphones with a microphone.
        case headset
        case microphone
        case line
        /// Another device's output, as an input.
        case monitor
        case unknown
    }

    /// Names the device in its sound system, the same after it was away: PipeWire's `node.name`, JACK's client, ALSA's PCM.
    public var id: String
    /// The system that has it.
    public var backend: AudioBackend
    /// The name for the user.
    public var name: String
    /// The attachment.
    public var transport: Transport
    /// The form.
    public var form: Form
    /// 0 if it has no microphone.
    public var inputChannelCount: Int
    /// 0 if it has no loudspeaker.
    public var outputChannelCount: Int
    /// Hertz: what it runs at now or would run at.
    public var sampleRate: Double
    /// Hertz: what it can run at, ascending; a system that converts to any rate names only the device's own.
    public var sampleRates: [Double]
    /// Block sizes that can be requested, in frames.
    public var blockFrameCounts: ClosedRange<Int>
    /// Seconds before the cycle in which a sample is handed over, if the system says so before it is opened.
    public var inputLatency: Double?
    /// Seconds after the start of the cycle in which a sample is rendered, if the system says so before it is opened.
    public var outputLatency: Double?
    /// True if this is the default input.
    public var isDefaultInput: Bool
    /// True if this is the default output.
    public var isDefaultOutput: Bool

    /// One input and one output at 48 kHz and 16 to 4,096 frames, unless said otherwise.
    public init(
        id: String, backend: AudioBackend, name: String, transport: Transport = .unknown, form: Form = .unknown,
        inputChannelCount: Int, outputChannelCount: Int, sampleRate: Double = 48_000, sampleRates: [Double]? = nil,
        blockFrameCounts: ClosedRange<Int> = 16...4_096, inputLatency: Double? = nil, outputLatency: Double? = nil,
        isDefaultInput: Bool = false, isDefaultOutput: Bool = false
    ) {
        self.id = id
        self.backend = backend
        self.name = name
        self.transport = transport
        self.form = form
        self.inputChannelCount = inputChannelCount
        self.outputChannelCount = outputChannelCount
        self.sampleRate = sampleRate
        self.sampleRates = sampleRates ?? [sampleRate]
        self.blockFrameCounts = blockFrameCounts
        self.inputLatency = inputLatency
        self.outputLatency = outputLatency
        self.isDefaultInput = isDefaultInput
        self.isDefaultOutput = isDefaultOutput
    }

    /// Returns true if only the person who wears it hears it, so that nobody expects its sound from a loudspeaker instead.
    package var isWorn: Bool { form == .headphones || form == .headset }
}
