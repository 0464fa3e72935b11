// SPDX-License-Identifier: Apache-2.0

import CEarshotLilv
import EarshotAudioDSP

/// Creates a unit's parameter from a file's description of a control port, even if the description is incomplete or wrong.
struct ParameterReader {
    let world: LilvWorld
    let plugIn: OpaquePointer

    /// The sample rate in hertz for the ranges that a file gives in multiples of the sample rate.
    static let nominalRate: Float = 48_000

    /// - Parameter taken: the identifiers that other parameters already have.
    func read(_ port: OpaquePointer, index: Int, taken: Set<String>) -> (UnitParameter, ParameterBinding) {
        let identifier = identifier(port, index: index, taken: taken)
        let name = printable(world.takeString(lilv_port_get_name(plugIn, port)) ?? "")
        func make(_ unit: UnitParameter.Unit, _ range: ClosedRange<Float>, _ value: Float) -> UnitParameter {
            UnitParameter(
                identifier, name.isEmpty ? identifier : name, unit, range,
                default: min(range.upperBound, max(range.lowerBound, value)))
        }
        let (low, high, defaultValue) = limits(port)

        if has(port, earshot_lv2_toggled) {
            let binding = ParameterBinding(port: index, lower: 0, upper: 1, isWhole: true)
            return (make(.toggle, 0...1, (defaultValue ?? 0) > 0 ? 1 : 0), binding)
        }
        if has(port, earshot_lv2_enumeration) {
            let points = scalePoints(port)
            if points.count > 1 {
                let values = points.map(\.value)
                let binding = ParameterBinding(
                    port: index, lower: values[0], upper: values[values.count - 1], choices: values)
                let lastIndex = Float(points.count - 1)
                let defaultIndex = binding.value(ofPort: defaultValue ?? values[0], in: 0...lastIndex) ?? 0
                return (make(.choice(points.map(\.name)), 0...lastIndex, defaultIndex), binding)
            }
        }

        let isRelative = has(port, earshot_lv2_sample_rate)
        let (unit, factor) = isRelative ? (.hertz, 1) : unit(port)
        let scale = isRelative ? Self.nominalRate : 1
        func inParameterUnit(_ value: Float) -> Float { Float(Double(value * scale) / factor) }
        // Choose a missing bound so that the other bound and the default fit.
        var lower = low ?? min(0, high ?? 0, defaultValue ?? 0)
        var upper = high ?? max(lower + 1, defaultValue ?? lower + 1)
        if lower > upper { (lower, upper) = (upper, lower) }
        let binding = ParameterBinding(
            port: index, factor: factor, lower: lower, upper: upper, isRelativeToRate: isRelative,
            isWhole: has(port, earshot_lv2_integer) && factor == 1)
        // Some files give the bounds in multiples of the sample rate, but the default in hertz.
        let isAbsolute = isRelative && defaultValue.map { $0 < lower || $0 > upper } == true
        let value = isAbsolute ? defaultValue ?? 0 : inParameterUnit(defaultValue ?? max(lower, min(upper, 0)))
        return (make(unit, inParameterUnit(lower)...inParameterUnit(upper), value), binding)
    }

    private func has(_ port: OpaquePointer, _ property: UnsafePointer<CChar>) -> Bool {
        lilv_port_has_property(plugIn, port, world.node(property))
    }

    private func limits(_ port: OpaquePointer) -> (lower: Float?, upper: Float?, defaultValue: Float?) {
        var nodes: (defaultValue: OpaquePointer?, lower: OpaquePointer?, upper: OpaquePointer?)
        lilv_port_get_range(plugIn, port, &nodes.defaultValue, &nodes.lower, &nodes.upper)
        defer { for node in [nodes.defaultValue, nodes.lower, nodes.upper] { lilv_node_free(node) } }
        return (world.number(nodes.lower), world.number(nodes.upper), world.number(nodes.defaultValue))
    }

    /// Returns the port's symbol if that is a unique word of at most 64 ASCII letters, digits and underscores; otherwise a word
    /// made from the symbol.
    private func identifier(_ port: OpaquePointer, index: Int, taken: Set<String>) -> String {
        let symbol = (world.string(lilv_port_get_symbol(plugIn, port)) ?? "").prefix(64)
        var word = String(symbol.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        if word.isEmpty { word = "port\(index)" }
        return taken.contains(word) ? "\(word)_\(index)" : word
    }

    /// Returns the port's named values in ascending order, each value once. The nodes are read one by one, since
    /// `lilv_port_get_scale_points` aborts the process if no scale point has a value.
    private func scalePoints(_ port: OpaquePointer) -> [(name: String, value: Float)] {
        guard let points = lilv_port_get_value(plugIn, port, world.node(earshot_lv2_scale_point)) else { return [] }
        defer { lilv_nodes_free(points) }
        var found: [(name: String, value: Float)] = []
        var iterator = lilv_nodes_begin(points)
        while !lilv_nodes_is_end(points, iterator), found.count < 1_024 {
            let point = lilv_nodes_get(points, iterator)
            func get(_ uri: UnsafePointer<CChar>) -> OpaquePointer? {
                lilv_world_get(world.pointer, point, world.node(uri), nil)
            }
            if let point, !lilv_node_is_literal(point), let value = world.number(owned: get(earshot_lv2_value)),
                !found.contains(where: { $0.value == value })
            {
                let name = printable(world.takeString(get(earshot_lv2_label)) ?? "")
                found.append((name.isEmpty ? "\(value)" : name, value))
            }
            iterator = lilv_nodes_next(points, iterator)
        }
        return found.sorted { $0.value < $1.value }
    }

    /// Returns the parameter's unit, and the number of the port's units in it, such as 1,000 for milliseconds.
    private func unit(_ port: OpaquePointer) -> (UnitParameter.Unit, Double) {
        let uri = world.takeString(lilv_port_get(plugIn, port, world.node(earshot_lv2_unit))) ?? ""
        let prefix = String(cString: earshot_lv2_units)
        guard uri.hasPrefix(prefix) else { return (.generic, 1) }
        return switch uri.dropFirst(prefix.count) {
        case "db": (.decibels, 1)
        case "hz": (.hertz, 1)
        case "khz": (.hertz, 0.001)
        case "mhz": (.hertz, 0.000_001)
        case "s": (.seconds, 1)
        case "ms": (.seconds, 1_000)
        case "min": (.seconds, 1 / 60)
        case "semitone12TET": (.semitones, 1)
        case "cent": (.semitones, 100)
        case "oct": (.semitones, 1 / 12)
        case "degree": (.degrees, 1)
        case "m": (.metres, 1)
        case "cm": (.metres, 100)
        case "mm": (.metres, 1_000)
        case "km": (.metres, 0.001)
        case "pc": (.percent, 1)
        default: (.generic, 1)
        }
    }
}
