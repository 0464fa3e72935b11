// SPDX-License-Identifier: Apache-2.0

import CEarshotLilv
import EarshotAudioDSP

/// Reads a plug-in's presets: their values of control ports. Other state of a preset, such as files, is ignored.
struct PresetReader {
    let world: LilvWorld
    let plugIn: OpaquePointer

    /// The maximum number of presets to read for a plug-in.
    static let most = 256

    /// Returns a default preset and then the others in the order of their names; empty if the plug-in has no presets.
    func read(_ description: UnitDescription, _ layout: PortLayout) -> [UnitPreset] {
        guard let nodes = lilv_plugin_get_related(plugIn, world.node(earshot_lv2_preset)) else { return [] }
        defer { lilv_nodes_free(nodes) }
        var presets: [UnitPreset] = []
        var iterator = lilv_nodes_begin(nodes)
        while !lilv_nodes_is_end(nodes, iterator), presets.count < Self.most {
            if let node = lilv_nodes_get(nodes, iterator), let preset = read(node, description, layout) {
                presets.append(preset)
            }
            iterator = lilv_nodes_next(nodes, iterator)
        }
        if presets.isEmpty { return [] }
        presets.sort { $0.name < $1.name }
        let ownDefault = presets.firstIndex { $0.name == "default" }.map { presets.remove(at: $0) }
        var takenNames: Set<String> = ["default"]
        for i in presets.indices {
            var name = presets[i].name
            var n = 2
            while !takenNames.insert(name).inserted {
                name = "\(presets[i].name)-\(n)"
                n += 1
            }
            presets[i].name = name
        }
        return [ownDefault ?? UnitPreset("default", [:])] + presets
    }

    private func read(_ node: OpaquePointer, _ description: UnitDescription, _ layout: PortLayout) -> UnitPreset? {
        lilv_world_load_resource(world.pointer, node)
        defer { lilv_world_unload_resource(world.pointer, node) }
        guard let state = lilv_state_new_from_world(world.pointer, URIDTable.shared.map, node) else { return nil }
        defer { lilv_state_free(state) }
        guard let label = lilv_state_get_label(state) else { return nil }
        var portValues: [String: Float] = [:]
        withUnsafeMutablePointer(to: &portValues) {
            lilv_state_emit_port_values(
                state,
                { symbol, portValues, value, size, type in
                    guard let symbol, let portValues, let value else { return }
                    let number = PresetReader.number(value, size: Int(size), type: type)
                    portValues.assumingMemoryBound(to: [String: Float].self).pointee[String(cString: symbol)] = number
                }, $0)
        }
        var values: [String: Float] = [:]
        for (parameter, binding) in zip(description.parameters, layout.parameters) {
            guard let port = lilv_plugin_get_port_by_index(plugIn, UInt32(binding.port)),
                let symbol = world.string(lilv_port_get_symbol(plugIn, port)), let value = portValues[symbol]
            else { continue }
            values[parameter.identifier] = binding.value(ofPort: value, in: parameter.range)
        }
        let words = String(cString: label).lowercased().split { !($0.isLetter || $0.isNumber) }
        let name = String(words.joined(separator: "-").prefix(64))
        return values.isEmpty || name.isEmpty ? nil : UnitPreset(name, values)
    }

    private static func number(_ value: UnsafeRawPointer, size: Int, type: UInt32) -> Float? {
        func read<Number>(_: Number.Type, _ uri: UnsafePointer<CChar>) -> Number? {
            type == URIDTable.shared.identifier(of: uri) && size == MemoryLayout<Number>.size
                ? value.loadUnaligned(as: Number.self) : nil
        }
        return read(Float.self, earshot_lv2_atom_float) ?? read(Double.self, earshot_lv2_atom_double).map { Float($0) }
            ?? read(Int32.self, earshot_lv2_atom_int).map { Float($0) }
            ?? read(Int64.self, earshot_lv2_atom_long).map { Float($0) }
            ?? read(Int32.self, earshot_lv2_atom_bool).map { $0 != 0 ? 1 : 0 }
    }
}
