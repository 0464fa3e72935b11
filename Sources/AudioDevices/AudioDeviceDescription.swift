// SPDX-License-Identifier: Apache-2.0

/// A description of a device by its sound system.
public struct AudioDeviceDescription: Hashable, Sendable, Identifiable {
    /// The connection of a device; Core Audio's transport type.
    public enum Transport: String, Hashable, Sendable, CaseIterable {
        /// Part of the machine.
        case builtIn
        case usb
        case bluetooth
        /// A screen or amplifier on a display cable.
        case hdmi
        /// Software without a converter.
        case virtual
        case unknown
    }

    /// The physical form of a device.
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

    /// The device's identifier in its sound system, which does not change when it is replugged: PipeWire's `node.name`, JACK's
    /// client, ALSA's PCM.
    public var id: String
    /// The sound system of the device.
    public var backend: AudioBackend
    /// The name for the user.
    public var name: String
    /// The connection.
    public var transport: Transport
    /// The form.
    public var form: Form
    /// The input channels; 0 for none.
    public var inputChannelCount: Int
    /// The output channels; 0 for none.
    public var outputChannelCount: Int
    /// The rate in hertz at which it runs or would run.
    public var sampleRate: Double
    /// The supported rates in hertz, ascending; a system that converts lists only the device's own.
    public var sampleRates: [Double]
    /// The supported block sizes in frames.
    public var blockFrameCounts: ClosedRange<Int>
    /// The input latency in seconds, as in ``AudioDevice/inputLatency``; nil if unknown before opening.
    public var inputLatency: Double?
    /// The output latency in seconds, as in ``AudioDevice/outputLatency``; nil if unknown before opening.
    public var outputLatency: Double?
    /// True if this is the default input.
    public var isDefaultInput: Bool
    /// True if this is the default output.
    public var isDefaultOutput: Bool

    /// Creates a description; by default of one input and one output at 48 kHz and 16 to 4,096 frames.
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

    /// Returns true if only its wearer hears it, so that its sound must not move to a loudspeaker.
    package var isWorn: Bool { form == .headphones || form == .headset }
}
