// SPDX-License-Identifier: Apache-2.0

import CEarshotLilv
import CEarshotRealtime
import EarshotAudioDSP

/// Reads a plug-in's files: its description, the layout of its ports, and the problem that prevents its use, if any. The caller
/// must hold the world's lock.
struct PlugInReader {
    private(set) var layout = PortLayout()
    private(set) var description: UnitDescription
    private(set) var problem: PlugInError?
    let isRealTimeCapable: Bool
    /// The path of the plug-in's library; empty if the files name none.
    private(set) var libraryPath = ""
    let needsFixedBlocks: Bool
    private let world: LilvWorld
    private let plugIn: OpaquePointer

    /// The maximum number of ports; more are considered an error in the description.
    static let maximumPortCount = 4_096
    /// The maximum size of one event output in bytes.
    static let maximumEventByteCount = 1 << 26

    init(_ plugIn: OpaquePointer, uri: String, _ world: LilvWorld) {
        self.world = world
        self.plugIn = plugIn
        let name = printable(world.takeString(lilv_plugin_get_name(plugIn)) ?? "")
        description = UnitDescription(
            component: AudioComponentDescription(type: .effect, subtype: uri, manufacturer: "lv2"),
            name: name.isEmpty ? printable(uri) : name, summary: "", parameters: [])
        // Old files declare real-time capability as a property of the plug-in, and with another spelling.
        let properties = world.takeStrings(lilv_plugin_get_value(plugIn, world.node(earshot_lv2_plugin_property)))
        isRealTimeCapable =
            lilv_plugin_has_feature(plugIn, world.node(earshot_lv2_hard_realtime))
            || properties.contains { $0.hasSuffix("#hardRtCapable") || $0.hasSuffix("#hardRTCapable") }
        let required = world.takeStrings(lilv_plugin_get_required_features(plugIn)).sorted()
        let fixedBlockFeatures = [earshot_lv2_fixed_block, earshot_lv2_power_of_two_block].map { String(cString: $0) }
        needsFixedBlocks = required.contains { fixedBlockFeatures.contains($0) }

        readPorts()
        let classNode = lilv_plugin_class_get_uri(lilv_plugin_get_class(plugIn))
        let className = world.string(classNode).flatMap(Self.lastWord) ?? "Plugin"
        if layout.audioInputs.isEmpty { description.component.type = .generator }
        description.summary = className == "Plugin" ? "An LV2 plug-in." : "An LV2 plug-in: \(className.lowercased())."
        problem = libraryProblem() ?? featureProblem(required) ?? problem ?? soundProblem(classNode)
        if problem == nil { description.presets = PresetReader(world: world, plugIn: plugIn).read(description, layout) }
    }

    /// Returns the last part of a class's URI without "Plugin", such as `Distortion`.
    private static func lastWord(_ uri: String) -> String? {
        let word = uri.split { $0 == "#" || $0 == "/" }.last.map { printable(String($0)) }
        guard let word, word.hasSuffix("Plugin"), word != "Plugin" else { return word }
        return String(word.dropLast("Plugin".count))
    }

    private var name: String { description.name }

    private mutating func libraryProblem() -> PlugInError? {
        guard let library = lilv_plugin_get_library_uri(plugIn), let uri = lilv_node_as_uri(library) else {
            return .badDescription(plugIn: name, detail: "it names no library")
        }
        guard let path = lilv_file_uri_parse(uri, nil) else {
            return .badDescription(
                plugIn: name, detail: "its library is not a local file: \(printable(String(cString: uri)))")
        }
        defer { lilv_free(path) }
        libraryPath = String(cString: path)
        return access(path, R_OK) == 0 ? nil : .noLibrary(plugIn: name, path: libraryPath)
    }

    private func featureProblem(_ required: [String]) -> PlugInError? {
        let options = world.takeStrings(lilv_plugin_get_value(plugIn, world.node(earshot_lv2_required_option))).sorted()
        let missing =
            required.first { !PlugInFeatures.offered.contains($0) }
            ?? options.first {
                !PlugInFeatures.offeredOptions.contains($0)
            }
        return missing.map { .requiresFeature(plugIn: name, feature: printable($0)) }
    }

    private func soundProblem(_ kind: OpaquePointer?) -> PlugInError? {
        if layout.audioOutputs.isEmpty { return .unsupportedPorts(plugIn: name, detail: "has no audio output") }
        let playsNotes = layout.audioInputs.isEmpty && !layout.eventInputs.isEmpty
        if playsNotes || world.string(kind) == String(cString: earshot_lv2_instrument) {
            return .unsupportedPorts(plugIn: name, detail: "is an instrument; Earshot does not play notes")
        }
        return nil
    }

    private mutating func readPorts() {
        let count = Int(lilv_plugin_get_num_ports(plugIn))
        guard count > 0, count <= Self.maximumPortCount else {
            let detail = "it has \(count) ports; supported: 1 to \(Self.maximumPortCount)"
            problem = .badDescription(plugIn: name, detail: count == 0 ? "it has no ports" : detail)
            return
        }
        var taken: Set<String> = []
        for index in 0..<count {
            guard let port = lilv_plugin_get_port_by_index(plugIn, UInt32(index)) else {
                problem = .badDescription(plugIn: name, detail: "its port \(index) is missing")
                return
            }
            read(port, index, &taken)
        }
        // If all audio inputs are optional or side chains, they carry the sound; the same holds for outputs.
        if layout.audioInputs.isEmpty { swap(&layout.audioInputs, &layout.silentInputs) }
        if layout.audioOutputs.isEmpty { swap(&layout.audioOutputs, &layout.unheardOutputs) }
    }

    private mutating func read(_ port: OpaquePointer, _ index: Int, _ taken: inout Set<String>) {
        func isA(_ uri: UnsafePointer<CChar>) -> Bool { lilv_port_is_a(plugIn, port, world.node(uri)) }
        func has(_ uri: UnsafePointer<CChar>) -> Bool { lilv_port_has_property(plugIn, port, world.node(uri)) }
        let isInput = isA(earshot_lv2_input_port)
        let isOptional = has(earshot_lv2_connection_optional)
        guard isInput != isA(earshot_lv2_output_port) else {
            let detail = "its port \(index) must be either an input or an output"
            problem = problem ?? .badDescription(plugIn: name, detail: detail)
            return
        }
        if isA(earshot_lv2_audio_port) {
            switch (isInput, isOptional || has(earshot_lv2_side_chain) || isInSideChain(port)) {
            case (true, false): layout.audioInputs.append(index)
            case (true, true): layout.silentInputs.append(index)
            case (false, false): layout.audioOutputs.append(index)
            case (false, true): layout.unheardOutputs.append(index)
            }
        } else if isA(earshot_lv2_control_port) {
            readControl(port, index, isInput: isInput, reportsLatency: has(earshot_lv2_reports_latency), &taken)
        } else if isA(earshot_lv2_atom_port) {
            if isInput { return layout.eventInputs.append(index) }
            let size = world.number(owned: lilv_port_get(plugIn, port, world.node(earshot_lv2_minimum_size))) ?? 0
            if size > Float(Self.maximumEventByteCount) {
                let limit = "supported: up to \(Self.maximumEventByteCount)"
                problem =
                    problem
                    ?? .badDescription(plugIn: name, detail: "its port \(index) asks for \(size) bytes; \(limit)")
            }
            layout.eventOutputs.append((index, max(8_192, min(Self.maximumEventByteCount, Int(size)))))
        } else if isOptional {
            layout.unconnected.append(index)
        } else {
            let kind = isA(earshot_lv2_cv_port) ? "a control voltage port" : "a port of an unknown type"
            problem = problem ?? .unsupportedPorts(plugIn: name, detail: "has \(kind), which Earshot does not support")
        }
    }

    /// Returns true if the port's group is declared as a side chain of another one.
    private func isInSideChain(_ port: OpaquePointer) -> Bool {
        guard let group = lilv_port_get(plugIn, port, world.node(earshot_lv2_group)) else { return false }
        defer { lilv_node_free(group) }
        return lilv_world_ask(world.pointer, group, world.node(earshot_lv2_side_chain_of), nil)
    }

    private mutating func readControl(
        _ port: OpaquePointer, _ index: Int, isInput: Bool, reportsLatency: Bool, _ taken: inout Set<String>
    ) {
        let designation = world.takeString(lilv_port_get(plugIn, port, world.node(earshot_lv2_designation)))
        if !isInput {
            layout.controlOutputs.append(index)
            if reportsLatency || designation == String(cString: earshot_lv2_latency) { layout.latency = index }
        } else if designation == String(cString: earshot_lv2_free_wheeling) {
            layout.constants.append((index, 0))
        } else {
            let (parameter, binding) = ParameterReader(world: world, plugIn: plugIn).read(
                port, index: index, taken: taken)
            taken.insert(parameter.identifier)
            description.parameters.append(parameter)
            layout.parameters.append(binding)
        }
    }
}

extension LilvWorld {
    /// Returns the number of a node that the caller owns, and frees the node.
    func number(owned node: OpaquePointer?) -> Float? {
        defer { lilv_node_free(node) }
        return number(node)
    }
}
