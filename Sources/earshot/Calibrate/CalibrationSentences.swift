// SPDX-License-Identifier: Apache-2.0

import EarshotDiagnostics
import EarshotLiveCall
import EarshotNearby
import Foundation

/// The sentences of a calibration.
enum CalibrationSentences {
    static func configuration(_ device: CalibratedDevice) -> String {
        "\(device.blockFrameCount)-frame blocks and \(String(format: "%g", device.sampleRate / 1e3)) kHz"
    }

    /// The sentence about a measurement at another rate or block size.
    static func stale(_ device: CalibratedDevice, measured other: CalibratedDevice) -> String {
        "The stored delay is that of \(configuration(other)), not of \(configuration(device))."
    }

    static func preparation(_ command: CalibrateCommand, _ joinInstructions: String) -> String {
        guard command.path == .air else { return "Five sweeps follow. \(joinInstructions)" }
        let distance = command.distance.map { String(format: "%g cm", $0) } ?? "about 30 cm"
        return "Five sweeps follow. Put the microphone \(distance) from the loudspeaker, and be quiet for 10 s."
    }

    static func progress(_ sweep: Int, peak: Float) -> String {
        "sweep \(sweep) of \(DelayCalibration.sweepCount)  microphone \(StatusLine.meter(peak))"
    }

    static func result(_ found: DelayCalibration, reported: Double) -> String {
        String(
            format: "Round trip: %.2f ms, within %.2f ms. The device reports %.2f ms, difference %+.2f ms.",
            found.roundTrip * 1e3, found.uncertainty * 1e3, reported * 1e3, (found.roundTrip - reported) * 1e3)
    }

    static func kept(_ device: CalibratedDevice) -> String {
        "Duets on these devices correct the difference at \(configuration(device))."
    }

    /// The reason that nothing was measured, and what to do.
    static func refusal(_ error: CalibrationError, _ command: CalibrateCommand, _ joinInstructions: String) -> String {
        let isCable = command.path == .cable
        switch error {
        case .noEcho where isCable: return "No sweep came back. \(joinInstructions)"
        case .noEcho:
            return "No sweep was heard. Turn up the loudspeaker, or move the microphone closer; "
                + "with headphones, hold an earpiece to it: earshot calibrate --distance 1"
        case .silence where isCable: return "The input is silent. \(joinInstructions)"
        case .silence:
            return "The microphone is silent. Unmute it in the sound settings, or use another: --microphone NAME"
        case .noise:
            return "Too much noise to be sure of the delay. Turn up the loudspeaker, move the microphone closer, "
                + "or wait for quiet."
        case .clipping:
            return "The microphone is clipping. Turn it or the loudspeaker down in the sound settings "
                + "(pavucontrol, alsamixer)."
        case .unstable(let seconds):
            return String(format: "The delay differed by %.1f ms between sweeps. ", seconds * 1e3)
                + (isCable
                    ? "Close other sound programs, or use larger blocks: --block 256"
                    : "Keep microphone and loudspeaker still, close other sound programs, and repeat.")
        case .lostFrames:
            return "The device lost frames. Close other programs, or use larger blocks: --block 256"
        }
    }

    static func notStored(_ error: NearbyStoreError) -> String {
        "Cannot store the delay: \(error)."
    }
}

extension CalibrationError {
    /// The name in reports.
    var name: String {
        switch self {
        case .noEcho: "noEcho"
        case .noise: "noise"
        case .clipping: "clipping"
        case .silence: "silence"
        case .unstable: "unstable"
        case .lostFrames: "lostFrames"
        }
    }
}
