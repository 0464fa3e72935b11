import AudioBase
import AudioDSP
import AudioPlugIns

extension AudioUnitEffect {
    /// A plug-in of others.
    /// - Parameters:
    ///   - blocks: how the plug-in is called; nil for what it needs.
    ///   - name: what errors call it; the plug-in's name unless said otherwise.
    public convenience init(_ plugIn: PlugIn, blocks: PlugInBlocks? = nil, name: String? = nil) {
        self.init(unit: plugIn.description, name: name) {
            try plugIn.makeUnit(sampleRate: $0, channelCount: $1, blocks: blocks)
        }
    }

    /// The first unit that fits a description: of Earshot's own, or else of the plug-ins that are installed
    /// (`AVAudioUnit.instantiate(with:)`, `AudioComponentFindNext`).
    /// - Parameter catalog: where plug-ins are looked for; reading it may take seconds where there is no subtype.
    /// - Throws: ``AudioEngineError/noUnit(_:near:)``.
    public convenience init(
        _ component: AudioComponentDescription, name: String? = nil, in catalog: PlugInCatalog = .installed
    ) throws(AudioEngineError) {
        if let type = UnitType.all.first(where: { component.matches($0.description.component) }) {
            self.init(type, name: name)
            return
        }
        let isOurs = component.manufacturer == "earshot"
        if !isOurs, let plugIn = catalog.plugIns(matching: component).first(where: { $0.problem == nil }) {
            self.init(plugIn, name: name)
            return
        }
        let known = UnitType.all.compactMap(\.description.component.subtype)
        throw .noUnit("\(component)", near: component.subtype.map { nearestNames($0, in: known) } ?? [])
    }
}
