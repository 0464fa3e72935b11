// SPDX-License-Identifier: Apache-2.0

import CEarshotLilv
import Synchronization

/// A world of lilv, the LV2 host library: all plug-in descriptions and open libraries.
///
/// lilv takes no locks itself, so callers must hold ``lock``.
final class LilvWorld: @unchecked Sendable {
    let lock = Mutex(())
    let pointer: OpaquePointer
    private var nodes: [UnsafePointer<CChar>: OpaquePointer] = [:]

    /// Reads the manifests of all bundles, which takes tens of milliseconds to seconds. lilv writes problems to standard error.
    /// - Parameter path: folders, separated by colons; nil for `LV2_PATH`, or for lilv's own list if that is not set.
    init(path: String?) {
        pointer = lilv_world_new()
        if let path {
            let node = lilv_new_string(pointer, path)
            lilv_world_set_option(pointer, earshot_lv2_path_option, node)
            lilv_node_free(node)
        }
        lilv_world_load_all(pointer)
    }

    deinit {
        for node in nodes.values { lilv_node_free(node) }
        lilv_world_free(pointer)
    }

    var plugIns: UnsafeRawPointer { lilv_world_get_all_plugins(pointer) }

    /// The URIs of all plug-ins, in lilv's order.
    var uris: [String] {
        var uris: [String] = []
        let all = plugIns
        var iterator = lilv_plugins_begin(all)
        while !lilv_plugins_is_end(all, iterator) {
            if let uri = string(lilv_plugin_get_uri(lilv_plugins_get(all, iterator))) { uris.append(uri) }
            iterator = lilv_plugins_next(all, iterator)
        }
        return uris
    }

    func plugIn(_ uri: String) -> OpaquePointer? {
        // A name without a URI's scheme is not passed to lilv, which would complain on standard error.
        let scheme = uri.prefix { $0 != ":" }
        guard scheme.count < uri.count, scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }),
            let node = lilv_new_uri(pointer, uri)
        else { return nil }
        defer { lilv_node_free(node) }
        return lilv_plugins_get_by_uri(plugIns, node)
    }

    /// Returns the node of a URI, which must be a constant of the C module: nodes are kept by the URI's address, as long as this
    /// object lives.
    func node(_ uri: UnsafePointer<CChar>) -> OpaquePointer {
        if let node = nodes[uri] { return node }
        let node: OpaquePointer = lilv_new_uri(pointer, uri)
        nodes[uri] = node
        return node
    }

    func string(_ node: OpaquePointer?) -> String? {
        guard let node, let text = lilv_node_as_string(node) else { return nil }
        return String(cString: text)
    }

    /// Returns the string of a node that the caller owns, and frees the node.
    func takeString(_ node: OpaquePointer?) -> String? {
        defer { lilv_node_free(node) }
        return string(node)
    }

    /// Returns the strings of a list of nodes that the caller owns, and frees the list.
    func takeStrings(_ nodes: UnsafeMutableRawPointer?) -> [String] {
        guard let nodes else { return [] }
        defer { lilv_nodes_free(nodes) }
        var strings: [String] = []
        var iterator = lilv_nodes_begin(nodes)
        while !lilv_nodes_is_end(nodes, iterator) {
            if let text = string(lilv_nodes_get(nodes, iterator)) { strings.append(text) }
            iterator = lilv_nodes_next(nodes, iterator)
        }
        return strings
    }

    /// Returns a node's number, clamped to ±10⁹; nil if the node is not a number, or if the number is NaN or infinite.
    func number(_ node: OpaquePointer?) -> Float? {
        guard let node else { return nil }
        let value: Float =
            if lilv_node_is_bool(node) {
                lilv_node_as_bool(node) ? 1 : 0
            } else if lilv_node_is_float(node) || lilv_node_is_int(node) {
                lilv_node_as_float(node)
            } else { Float.nan }
        return value.isFinite ? max(-1e9, min(1e9, value)) : nil
    }
}

/// Returns a text from a plug-in's file in printable form: one line without control characters, at most 160 characters.
func printable(_ text: String) -> String {
    let cleaned = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : String($0) }.joined()
    return String(cleaned.split(separator: " ").joined(separator: " ").prefix(160))
}
