import AudioBase

/// Placeholder.
public final class AggregateDevice: AudioDevice {
    let input: any AudioDevice
    let output: any AudioDevice
    init(input: any AudioDevice, output: any AudioDevice) throws(AudioDeviceError) {
        self.input = input
        self.output = output
    }
    public var name: String { output.name }
    public var sampleRate: Double { output.sampleRate }
    public var blockFrameCount: Int { output.blockFrameCount }
    public var inputChannelCount: Int { 0 }
    public var outputChannelCount: Int { output.outputChannelCount }
    public var inputLatency: Double { output.inputLatency }
    public var outputLatency: Double { output.outputLatency }
    public var realTimePriority: Int? { output.realTimePriority }
    public var monitor: CallbackMonitor { output.monitor }
    public var failure: AudioDeviceError? { output.failure ?? input.failure }
    public func start(_ callback: RenderCallback) throws(AudioDeviceError) { try output.start(callback) }
    public func stop() { output.stop() }
}
