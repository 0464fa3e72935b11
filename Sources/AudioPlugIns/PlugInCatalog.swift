// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Synchronization

/// The installed LV2 plug-ins.
///
/// The plug-ins are found at the first access, and each description is read once. Safe on any thread except a render thread.
public final class PlugInCatalog: Sendable {
    /// This machine's plug-ins: those in `LV2_PATH`, or in the usual folders (`~/.lv2`, `/usr/lib/lv2` and others).
    public static let installed = PlugInCatalog()

    private struct Contents {
        var world: LilvWorld?
        var plugInsByURI: [String: PlugIn] = [:]
        var sortedPlugIns: [PlugIn]?
    }
    private let path: String?
    private let contents = Mutex(Contents())

    /// - Parameter path: folders of bundles, separated by colons, instead of the usual ones.
    public init(path: String? = nil) { self.path = path }

    /// All plug-ins, sorted by name, including those that cannot run here (``PlugIn/problem``). The first access reads all
    /// descriptions, which may take seconds.
    public var plugIns: [PlugIn] {
        contents.withLock { contents in
            if let all = contents.sortedPlugIns { return all }
            let world = Self.world(&contents, path)
            let all = world.lock.withLock { _ in world.uris }
                .compactMap { Self.plugIn($0, &contents, world) }
                .sorted { ($0.description.name, $0.uri) < ($1.description.name, $1.uri) }
            contents.sortedPlugIns = all
            return all
        }
    }

    /// The descriptions of the plug-ins that can run here; `earshot effects` lists them.
    public var units: [UnitDescription] { plugIns.filter { $0.problem == nil }.map(\.description) }

    /// Returns the plug-ins that match a description. With a subtype, which is a plug-in's URI, only that plug-in is read.
    public func plugIns(matching component: AudioComponentDescription) -> [PlugIn] {
        let candidates = component.subtype.map { uri in exactMatch(uri).map { [$0] } ?? [] } ?? plugIns
        return candidates.filter { component.matches($0.description.component) }
    }

    /// Finds the plug-in that the user names by its URI, its name, or a unique part of either, ignoring case.
    /// - Throws: ``PlugInError/notFound(name:near:)``.
    public func plugIn(_ name: String) throws(PlugInError) -> PlugIn {
        if let exact = exactMatch(name) { return exact }
        let all = plugIns
        let wanted = name.lowercased()
        let sameNamed = all.filter { $0.description.name.lowercased() == wanted }
        if sameNamed.count == 1 { return sameNamed[0] }
        let partlyNamed = all.filter {
            !wanted.isEmpty
                && ($0.description.name.lowercased().contains(wanted) || $0.uri.lowercased().contains(wanted))
        }
        if partlyNamed.count == 1 { return partlyNamed[0] }
        let near = !sameNamed.isEmpty ? sameNamed : !partlyNamed.isEmpty ? partlyNamed : Self.nearest(all, to: wanted)
        throw .notFound(
            name: name,
            near: near.prefix(3).map { plugIn in
                all.filter { $0.description.name == plugIn.description.name }.count == 1
                    ? plugIn.description.name : plugIn.uri
            })
    }

    private func exactMatch(_ uri: String) -> PlugIn? {
        contents.withLock { Self.plugIn(uri, &$0, Self.world(&$0, path)) }
    }

    private static func world(_ contents: inout Contents, _ path: String?) -> LilvWorld {
        if let world = contents.world { return world }
        let world = LilvWorld(path: path)
        contents.world = world
        return world
    }

    private static func plugIn(_ uri: String, _ contents: inout Contents, _ world: LilvWorld) -> PlugIn? {
        if let known = contents.plugInsByURI[uri] { return known }
        let plugIn = world.lock.withLock { _ in world.plugIn(uri).map { PlugIn($0, uri: uri, world) } }
        contents.plugInsByURI[uri] = plugIn
        return plugIn
    }

    private static func nearest(_ all: [PlugIn], to name: String) -> [PlugIn] {
        all.map { plugIn in
            let lastPart = plugIn.uri.split { "/#:".contains($0) }.last.map(String.init) ?? plugIn.uri
            let distances = [plugIn.description.name, lastPart, plugIn.uri].map { distance($0.lowercased(), name) }
            return (plugIn, distances.min() ?? .max)
        }
        .filter { $0.1 <= max(2, name.count / 3) }
        .sorted { $0.1 < $1.1 }.map(\.0)
    }

    /// Returns the number of single-character edits between two words (V. I. Levenshtein, 1966); `Int.max` for words of very
    /// different lengths.
    private static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a.utf8), Array(b.utf8))
        if abs(a.count - b.count) > max(2, b.count / 3) { return .max }
        var distances = Array(0...b.count)
        for i in 0..<a.count {
            var diagonal = distances[0]
            distances[0] = i + 1
            for j in 0..<b.count {
                let change = diagonal + (a[i] == b[j] ? 0 : 1)
                diagonal = distances[j + 1]
                distances[j + 1] = min(change, distances[j] + 1, diagonal + 1)
            }
        }
        return distances[b.count]
    }
}
