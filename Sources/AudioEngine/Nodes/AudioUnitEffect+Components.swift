// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioPlugIns

extension AudioUnitEffect {
    /// A plug-in of others as a node.
    public convenience init(_ plugIn: PlugIn, name: String? = nil) {
        self.init(unit: plugIn.description, name: name) {
            try plugIn.makeUnit(sampleRate: $0, channelCount: $1)
        }
    }

    /// The unit of a type, subtype and maker (`AVAudioUnitComponentManager`), such as
    /// `AudioComponentDescription(type: .effect, subtype: "reverb", manufacturer: "earshot")`.
    ///
    /// Plug-ins are looked through only where the maker may be `lv2`, which may take seconds the first time unless the subtype,
    /// a plug-in's URI, is given.
    /// - Throws: ``AudioEngineError/noUnit(_:near:)`` if none fits; of several the first is taken.
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

    /// Every unit that fits a description, Earshot's own first.
    public static func components(matching component: AudioComponentDescription) -> [UnitDescription] {
        let own = UnitType.all.map(\.description).filter { component.matches($0.component) }
        guard component.manufacturer != "earshot" else { return own }
        return own
            + PlugInCatalog.installed.plugIns(matching: component).filter { $0.problem == nil }.map(\.description)
    }
}
