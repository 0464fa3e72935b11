// SPDX-License-Identifier: Apache-2.0

import EarshotAudioEngine
import EarshotAudioPlugIns
import EarshotAudioQueues

extension AudioEngineError: AdvisedError {
    var advice: String? {
        switch self {
        case .cycle: "Remove one of these connections."
        case .unconnected: "Connect a source, or remove the node."
        case .noOutput: "Connect the node before it instead."
        case .formatMismatch: "Omit the format to convert automatically."
        case .noUnit(let name, let near) where name.hasPrefix("lv2:"):
            PlugInError.notFound(name: name, near: near).advice
        case .noParameter(_, _, let near), .noUnit(_, let near):
            ErrorText.suggestion(near, otherwise: "List units and their parameters: earshot effects")
        case .wrongSetting(_, let parameter, _):
            parameter == nil ? "Write it as mix=20, for example." : nil
        case .noPreset(_, _, let presets):
            presets.isEmpty ? nil : "Presets: \(presets.joined(separator: ", "))."
        case .unitFailed: "Use another unit or another rate, or reinstall the plug-in's package."
        case .tooManyScheduled: "Remove some of them."
        case .device(let error): error.advice
        case .noThread: "Close other programs."
        case .notAttached, .attachedElsewhere, .permanent, .noSuchBus, .noInput, .impossibleFormat, .alreadyRunning,
            .running, .notManual, .tooManyFrames:
            nil
        }
    }
}

extension PlugInError: AdvisedError {
    var advice: String? {
        switch self {
        case .notFound(_, let near) where near.isEmpty:
            "Check the name, install the plug-in (on Debian, for example, swh-lv2), or set LV2_PATH to its folder."
        case .notFound(_, let near): ErrorText.suggestion(near, otherwise: "List plug-ins: earshot effects --plugins")
        case .badDescription: "Reinstall the plug-in's package, or report this to the plug-in's author."
        case .noLibrary: "Reinstall the plug-in's package."
        case .requiresFeature, .unsupportedPorts: "Use another plug-in."
        case .unsupportedChannels(_, let inputs, let outputs, _):
            "Use "
                + (inputs <= 2 && outputs <= 2
                    ? "it with 1 or 2 channels."
                    : inputs == outputs || inputs == 0 ? "it with \(outputs) channels." : "another plug-in.")
        case .instantiationFailed: "Try 44100 or 48000 Hz, or reinstall the plug-in's package."
        }
    }
}

extension AudioQueueError: AdvisedError {
    var advice: String? {
        switch self {
        case .codec(let error): error.advice
        case .engine(let error): error.advice
        case .noThread: "Close other programs."
        case .emptyBuffer, .badBuffer, .enqueuedAlready, .foreignBuffer, .tooManyBuffers, .bufferTooLarge, .stopping,
            .noRate, .badFormat:
            nil
        }
    }
}

extension AudioRecorderError: AdvisedError {
    var advice: String? {
        switch self {
        case .file(let error): error.advice
        case .queue(let error): error.advice
        case .stopped: nil
        }
    }
}

extension AudioPlayerError: AdvisedError {
    var advice: String? {
        switch self {
        case .file(let error): error.advice
        case .stream(let error): error.advice
        case .queue(let error): error.advice
        case .noItem: nil
        }
    }
}
