// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioDevices
import EarshotAudioFiles
import EarshotLiveCall

/// The sound card of `earshot check`.
final class CheckCard {
    let calls: CallDeviceSession
    private let feeder: FileFeeder?  // feeds the simulated microphone
    private let asked: SystemOptions

    init(_ command: CheckCommand) throws {
        asked = command.card.system
        var speech: AudioRing?
        let session = try command.card.session(inputChannelCount: 1) { card in
            if command.simulated.speak != nil {
                speech = AudioRing(channelCount: card.inputChannelCount, capacity: Int(card.sampleRate))
            }
            card.source = speech
            card.driftPPM = command.simulated.drift
            card.script = command.simulated.cardScript?.events ?? []
        }
        calls = try CallDeviceSession(session)
        let rate = calls.device.sampleRate
        feeder = try command.simulated.speak.flatMap { path in
            try speech.map { FileFeeder(try SoundFiles.open(path), into: $0, sampleRate: rate) }
        }
    }

    func start() throws {
        feeder?.prime()
        try feeder?.start()
    }

    func close() {
        calls.close()
        feeder?.stop()
    }

    var report: CallReport.Device { CallReport.Device(calls.description, asked) }
}
