// SPDX-License-Identifier: Apache-2.0

/// The connections of a plug-in's ports.
struct PortLayout: Sendable {
    /// The audio input ports by index.
    var audioInputs: [Int] = []
    var audioOutputs: [Int] = []
    /// Side chains and optional inputs, which receive silence.
    var silentInputs: [Int] = []
    /// Output ports that are not used.
    var unheardOutputs: [Int] = []
    /// The bindings of the unit's parameters, in their order.
    var parameters: [ParameterBinding] = []
    /// Input ports with a constant value.
    var constants: [(port: Int, value: Float)] = []
    var controlOutputs: [Int] = []
    var latency: Int?
    var eventInputs: [Int] = []
    /// Event outputs, with the bytes that each may write.
    var eventOutputs: [(port: Int, size: Int)] = []
    /// Ports that may stay unconnected.
    var unconnected: [Int] = []
}

/// The mapping of a unit's parameter to a plug-in's port.
struct ParameterBinding: Sendable {
    var port: Int
    /// Port units per parameter unit, such as 1,000 for a port in milliseconds.
    var factor = 1.0
    /// The port's range, in its own unit or in multiples of the sample rate.
    var lower: Float
    var upper: Float
    var isRelativeToRate = false
    var isWhole = false
    /// The port's value for each choice.
    var choices: [Float] = []

    /// Converts a preset's port value to the unit's parameter value.
    func value(ofPort value: Float, in range: ClosedRange<Float>) -> Float? {
        guard value.isFinite else { return nil }
        if !choices.isEmpty {
            return choices.indices.min { abs(choices[$0] - value) < abs(choices[$1] - value) }.map(Float.init)
        }
        return min(range.upperBound, max(range.lowerBound, Float(Double(value) / factor)))
    }
}
