// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

@testable import EarshotAudioSession
@testable import EarshotLiveCall

/// The device of a ``ChangedPeer``.
extension ChangedPeer {
    /// Moves the sound to a card, and wakes the session.
    func useDevice(input: String?, output: String?) throws(AudioDeviceError) {
        try device.use(input: input, output: output)
        wantedCard = output
        call.after(0) { [unowned self] in
            if call.peers[person] === self { _ = inspectDevices() }
        }
    }

    /// Does the work of the session's thread, which a command wakes while it opens a device. Returns the seconds until the next
    /// inspection.
    func inspectDevices() -> Double {
        isWoken = true
        guard !isInspecting else { return 0.02 }
        isInspecting = true
        defer { isInspecting = false }
        var milliseconds = 20
        while isWoken {
            isWoken = false
            let before = device.session.currentRoute.output?.id
            milliseconds = device.session.inspectDevices() ?? 20
            let after = device.session.currentRoute.output?.id
            if wantedCard == ChangedCards.takenName, !isWoken, after != before {
                call.note("person \(person): the sound moved to \(after ?? "nothing"), not to the card that is taken")
            }
            reportEvents()
        }
        return Double(milliseconds) * 0.001
    }

    private func reportEvents() {
        let events = device.session.history
        for event in events.dropFirst(reportedEvents) {
            if case .routeChanged(let change) = event, change.reason == .activated { continue }
            if case .deviceUnavailable = event { refusalCount += 1 }
            handle(.device(event, device.description))
        }
        reportedEvents = events.count
    }

    /// The faults of the device at the end of the call. A person who left may have left during a change.
    var deviceFaults: [String] {
        var faults = recorded.faults
        guard call.peers[person] === self else { return faults }
        let name = device.session.currentRoute.output?.id
        if wantedCard == ChangedCards.takenName {
            if refusalCount == 0 { faults.append("a card that is taken was not reported") }
        } else if name != wantedCard ?? ChangedCards.names[0] {
            faults.append("the sound is on \(name ?? "no card"), not on \(wantedCard ?? "the default")")
        }
        return faults.map { "person \(person): \($0)" }
    }
}
