// SPDX-License-Identifier: Apache-2.0

/// A sound system's description of a device.
public struct AudioDeviceDescription: Hashable, Sendable, Identifiable {
    /// The kind of connection between the machine and a device; Core Audio's transport type.
    public enum Transport: String, Hashable, Sendable, CaseIterable {
        /// The device is a part of the machine.
        case builtIn
        case usb
        case bluetooth
        /// A screen or amplifier connected by HDMI or DisplayPort.
        case hdmi
        /// A device in software, without a converter.
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
        /// An input that captures the sound that another device plays.
        case monitor
        case unknown
    }

    /// The device's identifier in its sound system, which stays the same when the device is replugged: PipeWire's `node.name`,
    /// JACK's client name, ALSA's PCM name.
    public var id: String
    /// The sound system of the device.
    public var backend: AudioBackend
    /// The device's name, as shown to users.
    public var name: String
    /// The kind of connection to the machine.
    public var transport: Transport
    /// The device's physical form.
    public var form: Form
    /// The number of input channels; 0 if the device has no input.
    public var inputChannelCount: Int
    /// The number of output channels; 0 if the device has no output.
    public var outputChannelCount: Int
    /// The sample rate in hertz at which the device runs, or would run by default.
    public var sampleRate: Double
    /// The sample rates in hertz that the device supports, ascending. Rates that the sound system would convert are left out.
    public var sampleRates: [Double]
    /// The supported block sizes in frames.
    public var blockFrameCounts: ClosedRange<Int>
    /// The input latency in seconds, as in ``AudioDevice/inputLatency``; nil if unknown before opening.
    public var inputLatency: Double?
    /// The output latency in seconds, as in ``AudioDevice/outputLatency``; nil if unknown before opening.
    public var outputLatency: Double?
    /// True if the device is its sound system's default input.
    public var isDefaultInput: Bool
    /// True if the device is its sound system's default output.
    public var isDefaultOutput: Bool
    /// The ports among which the device's sound can move: the output's if the device has outputs. Empty if the sound system names
    /// none.
    package var ports: [Port] = []
    /// The name of the port that is in use; nil if the sound system names none.
    package var portName: String?
    /// The profile of a Bluetooth headset; nil for other devices.
    package var headsetProfile: HeadsetProfile?

    /// Creates a description; by default of a device at 48 kHz with blocks of 16 to 4,096 frames.
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

    /// True if only the person who wears the device hears it, so that its sound must not move to a loudspeaker.
    package var isWorn: Bool { form == .headphones || form == .headset }
}
