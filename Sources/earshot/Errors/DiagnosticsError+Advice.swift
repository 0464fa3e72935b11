// SPDX-License-Identifier: Apache-2.0

import EarshotDiagnostics
import EarshotSimulation

extension RoundTripError: AdvisedError {
    var advice: String? {
        switch self {
        case .noLoop: "Connect the output to the input with a cable or a monitor link."
        case .silent: "Connect the output to the input, and check that the input is not muted."
        case .constant: "Check that the input is plugged in and switched on."
        case .clipped: "Turn down the input gain or the output."
        case .tooShort: "Measure for longer."
        case .interrupted: "Measure again; if it happens again, use a larger block."
        }
    }
}

extension CallPictureError: AdvisedError {
    var advice: String? {
        switch self {
        case .nothingToShow: "Use the reports of a call whose files contain sound."
        case .notWritten: "Use a writable folder."
        case .notDrawn: "Free some memory and try again."
        }
    }
}

extension DelayMeasurementError: AdvisedError {
    var advice: String? {
        switch self {
        case .sentIsSilent: "Use a file with speech or music in it."
        case .heardIsSilent: "Check that the call was connected and the output not muted."
        case .tooShort: "Use at least one second of sound."
        case .noOverlap: "Check the start times of both files."
        case .noMatch: "Check that the files belong to the same call."
        case .ambiguous: "Use speech or less regular music."
        }
    }
}

extension SimulationError: AdvisedError {
    var advice: String? {
        switch self {
        case .peerCount: "Use 2 to 8 peers."
        case .noSound: "Use a file with audio."
        case .full: nil
        }
    }
}

extension NetworkTraceError: AdvisedError {
    var advice: String? {
        switch self {
        case .badLine: "Write the packet's delay in ms, 0 to 10000, or 'lost'."
        case .empty: "Write one line per packet: its delay in ms, 0 to 10000, or 'lost'."
        case .tooLong: "Use a shorter part; it is repeated."
        }
    }
}
