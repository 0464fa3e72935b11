// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Foundation
import Synchronization
import UnitMeasures

@testable import EarshotAudioPlugIns

/// Returns values of a unit's parameters: the named ones, and the defaults of the others.
func values(_ unit: UnitInstance, _ changes: [String: Float]) -> [Float] {
    for name in changes.keys { precondition(unit.description.index(of: name) != nil, "no parameter \(name)") }
    return unit.description.parameters.map { changes[$0.identifier] ?? $0.defaultValue }
}

/// The two collections that the tests need, without other installed plug-ins, since reading all may take seconds. Libraries are
/// opened by the links' paths, so the folder stays.
let collections: PlugInCatalog = {
    let files = FileManager.default
    let folder = files.temporaryDirectory.appending(path: "earshot-collections-\(getuid())")
    try? files.createDirectory(at: folder, withIntermediateDirectories: true)
    for place in ["/usr/lib/lv2", "/usr/lib/x86_64-linux-gnu/lv2", "/usr/lib/aarch64-linux-gnu/lv2"] {
        for name in (try? files.contentsOfDirectory(atPath: place)) ?? []
        where name.hasSuffix("-swh.lv2") || name == "mda.lv2" {
            try? files.createSymbolicLink(
                atPath: folder.appending(path: name).path, withDestinationPath: "\(place)/\(name)")
        }
    }
    let catalog = PlugInCatalog(path: folder.path)
    precondition(!catalog.plugIns.isEmpty, "install swh-lv2 and mda-lv2")
    return catalog
}()

/// A plug-in by Steve Harris (swh-lv2).
func swh(_ name: String) throws -> PlugIn {
    try collections.plugIn("http://plugin.org.uk/swh-plugins/\(name)")
}

/// A plug-in of the MDA collection (mda-lv2).
func mda(_ name: String) throws -> PlugIn {
    try collections.plugIn("http://drobilla.net/plugins/mda/\(name)")
}

/// Returns true if new instances are ready for the unit's next reset.
func isRenewed(_ unit: UnitInstance) -> Bool {
    let renderer = unit.state.assumingMemoryBound(to: PlugInRenderer.self)
    return renderer.pointee.spareState.pointee.load(ordering: .acquiring) == PlugInRenderer.ready
}

/// 1 and then zeros.
func impulse(_ count: Int) -> [Float] { [1] + [Float](repeating: 0, count: count - 1) }

/// Noise between −0.5 and 0.5, always the same.
func noise(_ count: Int, seed: UInt32 = 1) -> [Float] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return Float(state >> 8) / Float(1 << 24) - 0.5
    }
}

/// Returns a generator's output.
func generate(_ unit: UnitInstance, _ count: Int) -> [[Float]] {
    let output = AudioBuffer(channelCount: unit.outputChannelCount, frameCapacity: count)
    return withExtendedLifetime(output) {
        unit.process(output.channels, output.channels, frameCount: count)
        return (0..<unit.outputChannelCount).map { c in (0..<count).map { output.channels[c][$0] } }
    }
}

extension [Float] {
    /// The root mean square.
    var rms: Double { (map { Double($0) * Double($0) }.reduce(0, +) / Double(count)).squareRoot() }
    /// The position of the sample farthest from zero.
    var peakIndex: Int { indices.max { self[$0].magnitude < self[$1].magnitude } ?? 0 }
}
