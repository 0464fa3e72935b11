// SPDX-License-Identifier: Apache-2.0

/// A plug-in's ports by purpose. Ports are given by their index.
struct PortLayout: Sendable {
    /// The audio input ports that receive the unit's input, and the audio output ports that make up its output.
    var audioInputs: [Int] = []
    var audioOutputs: [Int] = []
    /// Side chains and optional inputs, which receive silence.
    var silentInputs: [Int] = []
    /// Audio output ports whose sound is not used.
    var unheardOutputs: [Int] = []
    /// The mappings of the unit's parameters to ports, in the order of the parameters.
    var parameters: [ParameterBinding] = []
    /// Input ports with a constant value.
    var constants: [(port: Int, value: Float)] = []
    var controlOutputs: [Int] = []
    /// The control output that reports the latency; nil if there is none.
    var latency: Int?
    var eventInputs: [Int] = []
    /// Event outputs, with the maximum bytes that the plug-in may write to each.
    var eventOutputs: [(port: Int, size: Int)] = []
    /// Ports that may stay unconnected.
    var unconnected: [Int] = []
}

/// The mapping of a unit's parameter to a plug-in's port.
struct ParameterBinding: Sendable {
    var port: Int
    /// The port's units per parameter unit, such as 1,000 for a port in milliseconds and a parameter in seconds.
    var factor = 1.0
    /// The bounds of the port's value in the port's unit or, if ``isRelativeToRate``, in multiples of the sample rate.
    var lower: Float
    var upper: Float
    var isRelativeToRate = false
    var isWhole = false
    /// The port's value for each choice of the parameter; empty for a parameter without choices.
    var choices: [Float] = []

    /// Converts a port's value to the parameter's value, with choices the index of the nearest one; nil if not finite.
    func value(ofPort value: Float, in range: ClosedRange<Float>) -> Float? {
        guard value.isFinite else { return nil }
        if !choices.isEmpty {
            return choices.indices.min { abs(choices[$0] - value) < abs(choices[$1] - value) }.map(Float.init)
        }
        return min(range.upperBound, max(range.lowerBound, Float(Double(value) / factor)))
    }
}
