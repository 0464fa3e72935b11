// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioPlugIns

extension AudioUnitEffect {
    /// Creates a node that renders a plug-in.
    public convenience init(_ plugIn: PlugIn, name: String? = nil) {
        self.init(unit: plugIn.description, name: name) {
            try plugIn.makeUnit(sampleRate: $0, channelCount: $1)
        }
    }

    /// Creates a node by the type, subtype and manufacturer of its unit (`AVAudioUnitComponentManager`), such as
    /// `AudioComponentDescription(type: .effect, subtype: "reverb", manufacturer: "earshot")`. If several units match, takes the
    /// first.
    ///
    /// Plug-ins are searched only if the manufacturer may be `lv2`. The first search may take seconds unless the subtype, a
    /// plug-in's URI, is given.
    /// - Throws: ``AudioEngineError/noUnit(_:near:)``.
    public convenience init(_ component: AudioComponentDescription, name: String? = nil) throws(AudioEngineError) {
        if let type = UnitType.all.first(where: { component.matches($0.description.component) }) {
            self.init(type, name: name)
        } else if component.manufacturer != "earshot",
            let plugIn = PlugInCatalog.installed.plugIns(matching: component).first(where: { $0.problem == nil })
        {
            self.init(plugIn, name: name)
        } else {
            let subtypes = UnitType.all.compactMap(\.description.component.subtype)
            throw .noUnit("\(component)", near: nearestNames(component.subtype ?? "", in: subtypes))
        }
    }

    /// Returns the units that match a description, Earshot's own first.
    public static func components(matching component: AudioComponentDescription) -> [UnitDescription] {
        let own = UnitType.all.map(\.description).filter { component.matches($0.component) }
        guard component.manufacturer != "earshot" else { return own }
        return own
            + PlugInCatalog.installed.plugIns(matching: component).filter { $0.problem == nil }.map(\.description)
    }
}
