// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotCall

/// Effects of the local voice, created for a command that replaces the present ones.
package struct PreparedEffects: Sendable {
    /// The maximum number of effects, so that no mistake takes all time of the render thread.
    static let limit = 16

    /// The effects and the values of their parameters at first.
    let description: CallEffectsDescription
    /// The effects on the render thread.
    let insert: CallInsert
    let chain: EffectChain

    /// Creates effects. It may take a second for plug-ins.
    /// - Parameters:
    ///   - texts: at least one, as in ``LiveCallCommand/setEffects(_:)``.
    ///   - format: the format of the local voice.
    init(_ texts: [String], format: AudioFormat) throws(AudioEngineError) {
        if texts.count > Self.limit {
            throw .unitFailed(node: texts[Self.limit], reason: "a voice has at most \(Self.limit) effects")
        }
        var effects: [AudioUnitEffect] = []
        for text in texts { effects.append(try AudioUnitEffect.effect(parsing: text)) }
        chain = try EffectChain(effects, format: format)
        insert = CallInsert(latency: chain.latency, callback: chain.callback, owner: chain)
        description = CallEffectsDescription(
            units: effects.map(\.unit), values: effects.map { $0.parameters.map(\.value) }, latency: chain.latency)
    }

    /// Changes a parameter without a click, also while the effects are heard.
    func setParameter(_ parameter: Int, ofEffect effect: Int, to value: Float) {
        chain.effects[effect].parameters[parameter].value = value
    }
}
