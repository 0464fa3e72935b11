// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioPlugIns
import Stage

/// The microphone through an LV2 plug-in, found by a part of its name.
@main struct Example {
    static func main() throws {
        let stage = Stage(usage: "plug-in NAME [PARAMETER=VALUE…]")
        guard let name = stage.files.first else {
            for unit in PlugInCatalog.installed.units { print(unit.name) }
            return
        }
        // If no plug-in has this name, or several do, the error lists similar names.
        let plugIn = try PlugInCatalog.installed.plugIn(name)
        let effect = AudioUnitEffect(plugIn)
        for setting in stage.files.dropFirst() {
            let parts = setting.split(separator: "=").map(String.init)
            guard parts.count == 2, let value = Float(parts[1]) else { throw Wrong.setting(setting) }
            try effect.parameter(parts[0]).value = value
        }
        for parameter in effect.parameters {
            let about = parameter.information
            print("\(about.identifier) = \(parameter.value) \(about.unit.symbol), of \(about.range)")
        }
        let engine = AudioEngine()
        try engine.attach(effect)
        try engine.connect(engine.inputNode, to: effect)
        try engine.connect(effect, to: engine.mainMixerNode)
        try stage.run(engine, seconds: 3)
    }

    enum Wrong: Error { case setting(String) }
}
