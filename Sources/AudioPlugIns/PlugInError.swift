// SPDX-License-Identifier: Apache-2.0

/// An operation of a plug-in that failed here.
public enum PlugInError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No installed plug-in has this URI or name, or several have this part of one; `near` are names that may have been
    /// meant.
    case notFound(name: String, near: [String])
    /// Its files say too little, or something impossible.
    case badDescription(plugIn: String, detail: String)
    /// The library that its files name is not there, or not readable.
    case noLibrary(plugIn: String, path: String)
    /// It cannot run without something of LV2 that Earshot does not offer; `feature` is its URI.
    case requiresFeature(plugIn: String, feature: String)
    /// It has ports that Earshot cannot connect.
    case unsupportedPorts(plugIn: String, detail: String)
    /// Its channels do not fit the requested ones.
    case unsupportedChannels(plugIn: String, inputs: Int, outputs: Int, asked: Int)
    /// Its library failed to load, or it refused to start at this rate, in hertz; `log` is the plug-in's own text, if any.
    case instantiationFailed(plugIn: String, sampleRate: Double, log: String)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .notFound(let name, let near) where near.isEmpty: "no LV2 plug-in is called \"\(name)\""
        case .notFound(let name, _): "no single LV2 plug-in is called \"\(name)\""
        case .badDescription(let plugIn, let detail): "\(plugIn) is described wrongly (\(detail))"
        case .noLibrary(let plugIn, let path): "\(plugIn) lacks its library \(path)"
        case .requiresFeature(let plugIn, let feature): "\(plugIn) needs <\(feature)>, which Earshot does not offer"
        case .unsupportedPorts(let plugIn, let detail): "\(plugIn) \(detail)"
        case .unsupportedChannels(let plugIn, let inputs, let outputs, let asked):
            "\(plugIn) takes \(inputs) and gives \(outputs) channels, which do not fit \(asked)"
        case .instantiationFailed(let plugIn, let sampleRate, let log):
            "\(plugIn) does not start at \(Int(sampleRate)) Hz\(log.isEmpty ? "" : " (\(log))")"
        }
    }
}
