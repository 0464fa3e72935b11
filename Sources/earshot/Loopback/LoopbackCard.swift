import AudioBase
import AudioDevices
import AudioSession
import Diagnostics
import Foundation

/// The sound card of `earshot loopback`, on a session that follows what becomes of it.
final class LoopbackCard {
    let session: AudioSession
    /// Stays while the hardware behind it changes.
    let device: any AudioDevice
    let watchdog: CallbackWatchdog
    let loopback: Loopback
    private let asked: DeviceOptions
    private let wire: AudioRing?

    init(_ command: LoopbackCommand) throws {
        asked = command.card
        let outputs = 2  // what a route lacks beyond would be lost; with --output-map there may be more
        let system: any AudioSystem
        var simulated: SimulatedCard.Configuration?
        if asked.device == .simulated {
            let card = SimulatedCard.Configuration(
                sampleRate: asked.rate ?? 48_000, blockFrameCount: asked.block ?? 256,
                inputChannelCount: command.channels, outputChannelCount: outputs)
            let wire = Self.wire(card)
            simulated = card
            simulated?.source = wire
            simulated?.sink = wire
            self.wire = wire
            system = SimulatedSystem.standard(simulated)
        } else {
            wire = nil
            system = try asked.makeSystem()
        }
        var wanted = try asked.configuration(
            inputChannelCount: command.channels, outputChannelCount: outputs, on: system)
        wanted.preferredBlockFrameCount = asked.block ?? simulated?.blockFrameCount
        wanted.preferredSampleRate = asked.rate ?? simulated?.sampleRate
        session = AudioSession(system, wanted)
        device = try session.activate()
        let route = session.currentRoute
        guard route.input != nil else { throw AudioDeviceError.noDefaultDevice(.input) }
        guard route.output != nil else { throw AudioDeviceError.noDefaultDevice(.output) }
        watchdog = CallbackWatchdog(monitor: device.monitor)
        loopback = Loopback(sampleRate: device.sampleRate, inputChannelCount: device.inputChannelCount)
        loopback.gain = Float(pow(10, command.gain / 20))
        loopback.extraDelayFrameCount = Int((command.delay * 1e-3 * device.sampleRate).rounded())
    }

    /// From a simulated card's loudspeaker to its microphone. What is rendered in one call is captured two blocks later.
    private static func wire(_ card: SimulatedCard.Configuration) -> AudioRing {
        let frames = card.blockFrameCount
        let channels = min(card.inputChannelCount, card.outputChannelCount)
        let wire = AudioRing(channelCount: channels, capacity: 8 * frames)
        let silence = AudioBuffer(channelCount: channels, frameCapacity: 2 * frames)
        wire.writer.write(silence.channels, frameCount: 2 * frames)
        return wire
    }

    func start() throws { try device.start(loopback.callback) }

    func close() {
        device.stop()
        session.deactivate()
    }

    var report: CallReport.Device { CallReport.Device(session, device, asked.system) }
    var summary: String { report.summary(session.currentRoute) }

    /// How an output is joined to an input here, in one line.
    var howToJoin: String {
        let client = asked.clientName
        switch session.system.backend {
        case .pipewire:
            let sink = session.currentRoute.output?.id ?? "SINK"
            return "join output and input with a cable, or while this runs with the sink's monitor: "
                + "pw-link '\(TerminalText.sanitized(sink)):monitor_FL' '\(client):input_1'"
        case .jack:
            return "join output and input with a cable, or while this runs: "
                + "jack_connect \(client):output_1 \(client):input_1"
        case .alsa: return "join output and input with a cable"
        case .simulated: return "choose another input"
        }
    }

    /// What whoever has loudspeakers should know, or nil.
    var warning: String? { session.currentRoute.feedbackWarning }
}
