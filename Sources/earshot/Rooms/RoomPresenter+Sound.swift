// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioSession
import EarshotCall
import EarshotLiveCall
import EarshotNearby
import EarshotRooms
import Foundation

/// The events about sound and media.
extension RoomPresenter {
    /// Prints an event about the device, the local voice or its processing.
    func presentSound(_ event: LiveCallEvent) {
        switch event.kind {
        case .soundStarted(let device, let effects):
            guard let card else { return }
            Terminal.say(CallReport.Device(device, card.asked).summary(device.route))
            guard let effects else { return }
            Terminal.say(
                "Effects: \(effects.names.joined(separator: ", ")), "
                    + String(format: "delay %.1f ms", effects.latency * 1e3))
        case .device(let sessionEvent, let device):
            Terminal.say(sessionEvent.text)
            guard case .routeChanged(let change) = sessionEvent, let card else { return }
            Terminal.say(CallReport.Device(device, card.asked).summary(change.current))
            if snapshot.monitor?.isOn == true { warnOfFeedback(on: change.current) }
        case .microphone(let finding):
            // A simulated microphone is silent when its file has ended.
            if let card, card.asked.device != .simulated, finding != .fine { warn(event) }
        case .feedback: warn(event)
        case .voiceProcessing(.chosen(let choice, _)):
            // In the mode `auto`, with headphones or an unknown device, voice processing is off as expected: nothing is printed.
            guard choice.isOn || hadVoiceProcessing || snapshot.voiceProcessingMode != .auto else { return }
            hadVoiceProcessing = choice.isOn
            say(event)
        case .voiceProcessing(.failed(let error)): Terminal.warn(error)
        case .monitor(let choice):
            say(event)
            if choice.isOn { warnOfFeedback(on: snapshot.device?.route) }
        // The status line shows the state during push to talk.
        case .muted where snapshot.isPushToTalk && Terminal.redraws: break
        case .effects:
            // Effects that were set before the sound are printed at its beginning.
            if case .running = snapshot.sound { say(event) }
        case .muted(let isMuted):
            Terminal.say(text(event) + (isMuted && !snapshot.isPushToTalk ? " Press m to unmute." : ""))
        default: break
        }
    }

    private func warnOfFeedback(on route: AudioRoute?) {
        guard let words = MonitorSentences.warning(on: route, hasKeys: answers == .keys) else { return }
        Terminal.warn(words)
    }

    /// Prints an event about the media of a remote participant.
    func presentMedia(_ event: LiveCallEvent) {
        switch event.kind {
        case .callBegan, .formatChanged: if card != nil { say(event) }
        case .transportFailed(_, let error): warn(event, error)
        case .negotiationFailed(_, let error): warn(event, error)
        case .linkRate(_, let rate):
            guard card != nil else { return }
            if rate == nil { say(event) } else { warn(event) }
        case .mediaMissing(let participant, let remotePort):
            // Reading the firewall's rules may take a second, so it happens on its own thread.
            let (name, port) = (participant.name.text, call.port)
            Thread.detachNewThread {
                Terminal.warn(
                    FirewallWords.noMedia(from: name, Firewall.detectLocal(), port: port, farPort: remotePort))
            }
        default: break
        }
    }
}
