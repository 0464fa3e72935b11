// SPDX-License-Identifier: Apache-2.0

/// The control of an accompaniment.
extension CommandDocument {
    /// The names of the controls.
    private enum ControlName: String {
        case play, pause, seek, next, previous, setGain, setForAll
    }

    mutating func setControl(_ control: AccompanimentControl) {
        let name: ControlName
        switch control {
        case .play: name = .play
        case .pause: name = .pause
        case .seek(let seconds): (name, self.seconds) = (.seek, seconds)
        case .next: name = .next
        case .previous: name = .previous
        case .setGain(let gain): (name, volume) = (.setGain, gain)
        case .setForAll(let isForAll): (name, self.isForAll) = (.setForAll, isForAll)
        }
        self.control = name.rawValue
    }

    func accompanimentControl() throws(CommandDocumentError) -> AccompanimentControl {
        switch try requiredValue(control, "control", { ControlName(rawValue: $0) }) {
        case .play: return .play
        case .pause: return .pause
        case .seek: return .seek(to: try requiredValue(seconds, "seconds") { $0.isFinite ? $0 : nil })
        case .next: return .next
        case .previous: return .previous
        case .setGain: return .setGain(try gain())
        case .setForAll: return .setForAll(try requiredValue(isForAll, "isForAll") { $0 })
        }
    }
}
