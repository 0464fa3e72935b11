// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Effects for one's own voice, which the program renders; an `EffectChain` of AudioEngine, for example.
package struct CallEffects: Sendable {
    /// The effects' names in order, for people.
    package let names: [String]
    /// Seconds by which the effects delay the voice.
    package let latency: Double
    let callback: RenderCallback
    private let owner: any AnyObject & Sendable

    /// - Parameters:
    ///   - callback: renders the cycle's input through the effects into its output, which is silent before. It gets blocks at the
    ///     device's rate with the call's channels.
    ///   - owner: the owner of the callback's memory, kept as long as the call may render.
    package init(names: [String], latency: Double, callback: RenderCallback, owner: any AnyObject & Sendable) {
        self.names = names
        self.latency = latency
        self.callback = callback
        self.owner = owner
    }
}
