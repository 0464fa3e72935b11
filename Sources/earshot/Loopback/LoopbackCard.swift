// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotDiagnostics
import Foundation

/// The sound card of `earshot loopback` and `earshot calibrate`, on a session that follows changes of the hardware.
final class LoopbackCard: SessionCard {
    let session: AudioSession
    let device: any AudioDevice
    let watchdog: CallbackWatchdog
    let loopback: Loopback
    let asked: SystemOptions

    /// - Parameter makeLoopback: returns the loopback for an open device.
    init(_ options: DeviceOptions, channels: Int, _ makeLoopback: (any AudioDevice) -> Loopback) throws {
        asked = options.system
        // The session has two outputs unless --speaker-channels names others.
        session = try options.session(inputChannelCount: channels) { card in
            let wire = Self.wire(card)
            card.source = wire
            card.sink = wire
        }
        device = try session.activate(needing: [.input, .output])
        watchdog = CallbackWatchdog(monitor: device.monitor)
        loopback = makeLoopback(device)
    }

    convenience init(_ command: LoopbackCommand) throws {
        try self.init(command.card, channels: command.channels) { device in
            Loopback(sampleRate: device.sampleRate, inputChannelCount: device.inputChannelCount)
        }
        loopback.gain = Float(pow(10, command.gain / 20))
        loopback.extraDelayFrameCount = Int((command.delay * 1e-3 * device.sampleRate).rounded())
    }

    /// Returns a ring buffer that carries a simulated card's output to its microphone, with a delay of two blocks.
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

    /// The advice for joining an output to an input.
    var joinInstructions: String {
        let client = asked.card.clientName
        switch session.system.backend {
        case .pipewire:
            let sink = session.currentRoute.output?.id ?? "SINK"
            return "Connect output and input with a cable, or the sink's monitor while this runs: "
                + "pw-link '\(TerminalText.sanitized(sink)):monitor_FL' '\(client):input_1'"
        case .jack:
            return "Connect output and input with a cable, or while this runs: "
                + "jack_connect \(client):output_1 \(client):input_1"
        case .alsa: return "Connect output and input with a cable."
        case .simulated: return "choose another input"
        }
    }

    /// The warning that a loudspeaker feeds back into the microphone; nil without this danger, as with headphones.
    var warning: String? { session.currentRoute.feedbackWarning }
}
