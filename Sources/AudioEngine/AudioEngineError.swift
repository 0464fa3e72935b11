// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices

/// An error of an ``AudioEngine``. The associated values identify nodes by their ``AudioNode/name``.
public enum AudioEngineError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The connection would close a cycle of these nodes.
    case cycle([String])
    /// These inputs have no connection, although their nodes lead to an output.
    case unconnected([String])
    /// The node is not attached to this engine.
    case notAttached(String)
    /// The node is attached to another engine.
    case attachedElsewhere(String)
    /// The node is the engine's own and cannot be detached.
    case permanent(String)
    /// The node has no bus of this number.
    case noSuchBus(node: String, bus: Int, count: Int)
    /// The node has no input.
    case noInput(String)
    /// The node has no output.
    case noOutput(String)
    /// The node cannot work in this format.
    case impossibleFormat(node: String, format: AudioFormat, reason: String)
    /// The destination does not accept the connection's format.
    case formatMismatch(from: String, to: String, given: AudioFormat, wanted: AudioFormat)
    /// The unit has no parameter of this name; `near` has similar names.
    case noParameter(unit: String, name: String, near: [String])
    /// The text of an effect has a value that the parameter cannot take; the parameter is nil for a text that is no setting.
    case wrongSetting(unit: String, parameter: UnitParameter?, text: String)
    /// The unit has no preset of this name.
    case noPreset(unit: String, name: String, presets: [String])
    /// No unit matches the description; `near` has similar subtypes.
    case noUnit(String, near: [String])
    /// A unit could not be created; `reason` is the description of the underlying error.
    case unitFailed(node: String, reason: String)
    /// The node already has 256 scheduled parameter changes, the maximum.
    case tooManyScheduled(node: String)
    /// The engine is already running.
    case alreadyRunning
    /// The operation is impossible while the engine runs.
    case running
    /// The engine is not in manual rendering mode.
    case notManual
    /// More frames were requested in one call than manual rendering was enabled for.
    case tooManyFrames(asked: Int, maximum: Int)
    /// The device could not be started.
    case device(AudioDeviceError)
    /// The system could not create the engine's own thread; `code` is an errno value.
    case noThread(code: Int)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .cycle(let names): "\(names.joined(separator: " → ")) would feed itself"
        case .unconnected(let names): "nothing is connected to \(names.joined(separator: ", "))"
        case .notAttached(let name): "\(name) is not attached to this engine"
        case .attachedElsewhere(let name): "\(name) is attached to another engine"
        case .permanent(let name): "\(name) is the engine's own and cannot be detached"
        case .noSuchBus(let node, let bus, let count):
            "\(node) has no bus \(bus), only \(count == 1 ? "bus 0" : "buses 0 to \(count - 1)")"
        case .noInput(let node): "\(node) has no input"
        case .noOutput(let node): "\(node) has no output"
        case .impossibleFormat(let node, let format, let reason):
            "\(node) does not support \(Self.summary(format)): \(reason)"
        case .formatMismatch(let from, let to, let given, let wanted):
            "the connection from \(from) to \(to) has the format \(Self.summary(given)), but \(to) needs \(Self.summary(wanted))"
        case .noParameter(let unit, let name, _): "\(unit) has no parameter '\(name)'"
        case .wrongSetting(_, let parameter?, let text):
            "\(parameter.identifier) must be \(parameter.allowedValues), not '\(text)'"
        case .wrongSetting(_, nil, let text): "'\(text)' is not parameter=value"
        case .noPreset(let unit, _, let presets) where presets.isEmpty: "\(unit) has no presets"
        case .noPreset(let unit, let name, _): "\(unit) has no preset '\(name)'"
        case .noUnit(let name, _): "there is no unit '\(name)'"
        case .unitFailed(let node, let reason): "\(node) could not be created: \(reason)"
        case .tooManyScheduled(let node): "\(node) already has 256 scheduled parameter changes, the maximum"
        case .alreadyRunning: "the engine is already running"
        case .running: "this is not possible while the engine runs"
        case .notManual: "the engine renders for a device"
        case .tooManyFrames(let asked, let maximum):
            "\(asked) frames at once exceed the \(maximum) for which manual rendering was enabled"
        case .device(let error): error.description
        case .noThread(let code): "the system cannot create a thread for the engine (error \(code))"
        }
    }

    static func summary(_ format: AudioFormat) -> String {
        let rate = format.sampleRate / 1_000
        let kilohertz = rate == rate.rounded() ? "\(Int(rate))" : "\(rate)"
        return "\(kilohertz) kHz, \(format.channelCount) channel\(format.channelCount == 1 ? "" : "s")"
    }
}
