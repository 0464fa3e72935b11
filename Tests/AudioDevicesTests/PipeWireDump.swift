// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import Foundation
import Testing

@testable import EarshotAudioDevices

/// A server's objects and their changes in the form of `pw-dump --monitor`: an array of objects, of which only the changed parts
/// are given, and with `"info": null` for an object that was removed. `t` is the time of a change in milliseconds.
///
/// In a list of routes, `"@PART"` is the route whose name contains PART, as the same list last had it, and `{"@": "PART", …}` the
/// same with other values. The texts are put together from reports of real machines, which each test names.
struct PipeWireDump {
    private(set) var graph = PipeWireGraph()
    private var changes: [[String: Any]]
    private var routes: [String: [String: Any]] = [:]

    /// Reads the objects that exist at the start, and the changes.
    init(_ objects: String, changes: String = "[]") throws {
        self.changes = try Self.read(changes)
        for object in try Self.read(objects) { try apply(object) }
        graph.applyCardUpdates()
    }

    private static func read(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    /// Applies all changes up to a time in milliseconds. Returns the devices that are listed then.
    @discardableResult
    mutating func run(until time: Int) throws -> [AudioDeviceDescription] {
        while let first = changes.first, try #require(first["t"] as? Int) <= time {
            changes.removeFirst()
            try apply(first)
        }
        graph.applyCardUpdates()
        return graph.descriptions()
    }

    /// Returns each different list of devices in turn, if each change is listed by itself.
    mutating func lists() throws -> [[AudioDeviceDescription]] {
        var lists = [graph.descriptions()]
        for time in changes.compactMap({ $0["t"] as? Int }) {
            let list = try run(until: time)
            if list != lists.last { lists.append(list) }
        }
        return lists
    }

    private mutating func apply(_ object: [String: Any]) throws {
        let id = UInt32(try #require(object["id"] as? Int))
        if object["info"] is NSNull { return graph.remove(id) }
        for entry in object["metadata"] as? [[String: Any]] ?? [] {
            let value = try #require(entry["value"] as? [String: Any])
            graph.set(.defaults, entry["key"] as? String, #"{ "name": "\#(value["name"] ?? "")" }"#)
        }
        let info = object["info"] as? [String: Any]
        if let properties = (info?["props"] as? [String: Any])?.mapValues({ "\($0)" }) {
            if properties[PW_KEY_MEDIA_CLASS] == nil {
                graph.devices[id] = properties
            } else {
                graph.nodes[id] = [PW_KEY_AUDIO_CHANNELS: "2"].merging(properties) { _, own in own }
            }
        }
        for (name, values) in (info?["params"] ?? object["params"]) as? [String: [Any]] ?? [:] {
            try apply(values, of: name, to: id)
        }
    }

    private mutating func apply(_ values: [Any], of name: String, to id: UInt32) throws {
        let names: [String: PipeWireGraph.CardParameter] = [
            "Route": .routes, "EnumRoute": .possibleRoutes, "Profile": .profiles, "EnumProfile": .possibleProfiles,
        ]
        let parameter = try #require(names[name])
        graph.add(.list(parameter), to: id)
        for value in values {
            switch parameter {
            case .routes, .possibleRoutes:
                let route = Self.route(try expand(value, of: name))
                graph.add(.route(route, parameter), to: id)
            case .profiles, .possibleProfiles:
                let profile = try Self.profile(try #require(value as? [String: Any]))
                graph.add(.profile(profile, parameter), to: id)
            }
        }
    }

    /// Returns the complete route that a list's value stands for, and remembers it.
    private mutating func expand(_ value: Any, of list: String) throws -> [String: Any] {
        var own: [String: Any]
        if let fields = value as? [String: Any] {
            own = fields
        } else {
            own = ["@": String(try #require(value as? String).dropFirst())]
        }
        if let part = own["@"] as? String {
            let known = routes.filter { $0.key.hasPrefix(list) && $0.key.contains(part) }
            own = try #require(known.count == 1 ? known.first?.value : nil, "\(part)").merging(own) { _, new in new }
        }
        routes["\(list) \(try #require(own["name"] as? String))"] = own
        return own
    }

    private static func route(_ value: [String: Any]) -> PipeWireGraph.Route {
        let info = (value["info"] as? [Any] ?? []).compactMap { $0 as? String }
        let portType = info.firstIndex(of: "port.type").map { info[$0 + 1] }
        return PipeWireGraph.Route(
            name: value["name"] as? String ?? "", isOutput: value["direction"] as? String == "Output",
            device: value["device"] as? Int, devices: value["devices"] as? [Int] ?? [], portType: portType,
            availability: availability(value))
    }

    private static func profile(_ value: [String: Any]) throws -> PipeWireGraph.Profile {
        PipeWireGraph.Profile(
            index: try #require(value["index"] as? Int), name: try #require(value["name"] as? String),
            priority: value["priority"] as? Int ?? 0, availability: availability(value))
    }

    private static func availability(_ value: [String: Any]) -> AudioDeviceDescription.Port.Availability {
        switch value["available"] as? String {
        case "yes": .available
        case "no": .unavailable
        default: .unknown
        }
    }
}
