// SPDX-License-Identifier: Apache-2.0

/// The reason that an operation on a plug-in failed.
public enum PlugInError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No installed plug-in matches this URI or name, or several do. `near` lists up to three matching or similar names or URIs.
    case notFound(name: String, near: [String])
    /// The plug-in's files are incomplete or contradict themselves.
    case badDescription(plugIn: String, detail: String)
    /// The library that the plug-in's files name is missing or not readable.
    case noLibrary(plugIn: String, path: String)
    /// The plug-in requires an LV2 feature that Earshot does not support; `feature` is its URI.
    case requiresFeature(plugIn: String, feature: String)
    /// The plug-in has ports that Earshot cannot connect, has no audio output, or is an instrument.
    case unsupportedPorts(plugIn: String, detail: String)
    /// The plug-in's channels do not fit the requested number.
    case unsupportedChannels(plugIn: String, inputs: Int, outputs: Int, asked: Int)
    /// The plug-in's library failed to load, or the plug-in refused to start at this sample rate in hertz. `log` is the plug-in's
    /// last message or else the system's reason; it may be empty.
    case instantiationFailed(plugIn: String, sampleRate: Double, log: String)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .notFound(let name, let near) where near.isEmpty: "no LV2 plug-in is called \"\(name)\""
        case .notFound(let name, _): "no LV2 plug-in matches \"\(name)\" uniquely"
        case .badDescription(let plugIn, let detail): "the description of \(plugIn) is invalid (\(detail))"
        case .noLibrary(let plugIn, let path): "the library of \(plugIn) is missing or not readable: \(path)"
        case .requiresFeature(let plugIn, let feature):
            "\(plugIn) requires <\(feature)>, which Earshot does not support"
        case .unsupportedPorts(let plugIn, let detail): "\(plugIn) \(detail)"
        case .unsupportedChannels(let plugIn, let inputs, let outputs, let asked):
            "\(plugIn) (\(inputs) in, \(outputs) out) does not fit \(asked) channels"
        case .instantiationFailed(let plugIn, let sampleRate, let log):
            "\(plugIn) does not start at \(Int(sampleRate)) Hz\(log.isEmpty ? "" : " (\(log))")"
        }
    }
}
