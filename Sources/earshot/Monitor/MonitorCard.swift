import AudioBase
import AudioDevices
import AudioEngine
import AudioFiles
import AudioSession
import Call
import Diagnostics
import Foundation

/// The sound card of `earshot monitor` with its graph: microphone → effects → a mixer, from which the file is written → the
/// main mixer, which has the volume → headphones.
final class MonitorCard {
    let session: AudioSession
    /// Stays while the hardware behind it changes.
    let device: any AudioDevice
    let watchdog: CallbackWatchdog
    let effects: [AudioUnitEffect]
    let recorder: FileRecorder?
    let heard: MonitorTape
    private let spoken: MonitorTape
    private let engine = AudioEngine()
    private let asked: DeviceOptions
    private let volume: Float
    /// Seconds.
    private(set) var effectsLatency = 0.0
    private var howls = 0
    private(set) var reduction: Float = 1

    init(_ command: MonitorCommand) throws {
        asked = command.card
        effects = try command.effect.effects()
        volume = Float(pow(10, command.volume / 20))
        let system: any AudioSystem
        var simulated: SimulatedCard.Configuration?
        if asked.device == .simulated {
            simulated = SimulatedCard.Configuration(
                sampleRate: asked.rate ?? 48_000, blockFrameCount: asked.block ?? 256,
                inputChannelCount: command.channels, outputChannelCount: 2)
            system = SimulatedSystem.standard(simulated)
        } else {
            system = try asked.makeSystem()
        }
        var wanted = try asked.configuration(
            inputChannelCount: command.channels, outputChannelCount: 2, on: system)
        wanted.preferredBlockFrameCount = asked.block ?? simulated?.blockFrameCount
        wanted.preferredSampleRate = asked.rate ?? simulated?.sampleRate
        session = AudioSession(system, wanted)
        device = try session.activate()
        let route = session.currentRoute
        guard route.input != nil else { throw AudioDeviceError.noDefaultDevice(.input) }
        guard route.output != nil else { throw AudioDeviceError.noDefaultDevice(.output) }
        watchdog = CallbackWatchdog(monitor: device.monitor)
        let rate = device.sampleRate
        spoken = MonitorTape(sampleRate: rate)
        let channels = min(2, device.outputChannelCount)
        let ring = command.record == nil ? nil : AudioRing(channelCount: channels, capacity: Int(rate))
        heard = MonitorTape(sampleRate: rate, ring: ring)
        if let path = command.record, let ring {
            let format = AudioFormat(sampleRate: rate, channelCount: channels)
            recorder = FileRecorder(try SoundFileOutput.create(path, format: format), from: ring)
        } else {
            recorder = nil
        }
        try connect(rate: rate, channelCount: channels)
    }

    private func connect(rate: Double, channelCount: Int) throws {
        let stereo = AudioFormat(sampleRate: rate, channelCount: channelCount)
        let voice = AudioMixerNode(name: "voice")
        let (spoken, heard) = (spoken, heard)
        let input = AudioSinkNode(name: "input meter") { spoken.take($0, $1, $2) }
        let tape = AudioSinkNode(name: "tape") { heard.take($0, $1, $2) }
        for node in [voice, input, tape] { try engine.attach(node) }
        // A reverb is as wide as what goes in.
        try engine.connectInSeries(effects, to: voice, format: stereo)
        try engine.connect(engine.inputNode, to: input)
        try engine.connect(voice, to: tape, format: stereo)
        try engine.connect(voice, to: engine.mainMixerNode)
        engine.mainMixerNode.outputVolume = volume
    }

    func start() throws {
        try recorder?.start()
        try engine.start(on: device)
        effectsLatency = engine.paths.filter { $0.nodes.last == engine.outputNode.name }.map(\.latency).max() ?? 0
    }

    /// Turns a howl down by 12 dB. - Returns: whether there was a new one.
    func quench() -> Bool {
        guard heard.howlCount > howls else { return false }
        howls = heard.howlCount
        reduction *= 0.25
        engine.mainMixerNode.outputVolume = volume * reduction
        return true
    }

    /// The file is complete after it.
    func close() {
        engine.stop()
        session.deactivate()
        recorder?.stop()
    }

    var report: CallReport.Device { CallReport.Device(session, device, asked.system) }
    var summary: String { report.summary(session.currentRoute) }
    /// Peaks of the microphone and of what is heard, 0 to 1 and above.
    var peaks: (input: Float, output: Float) { (spoken.peak.load(), heard.peak.load() * volume * reduction) }

    /// Seconds from mouth to ear: the device's, and the effects'.
    var delay: MonitorReport.Delay {
        MonitorReport.Delay(
            inputMs: device.inputLatency * 1e3, outputMs: device.outputLatency * 1e3, effectsMs: effectsLatency * 1e3)
    }
}

extension AudioRoute {
    /// What whoever hears his own microphone should know, or nil.
    var feedbackWarning: String? {
        guard let output, !output.isWorn, output.transport != .virtual || output.form == .speaker,
            input?.form != .monitor
        else { return nil }
        return "use headphones: a loudspeaker feeds back into the microphone; a howl is turned down"
    }
}
