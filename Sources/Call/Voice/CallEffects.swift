// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Effects for the local voice, rendered by the program, such as an `EffectChain` of AudioEngine.
package struct CallEffects: Sendable {
    /// The display names of the effects, in the order of processing.
    package let names: [String]
    /// The delay of the effects in seconds.
    package let latency: Double
    let callback: RenderCallback
    private let owner: any AnyObject & Sendable

    /// - Parameters:
    ///   - callback: renders the cycle's input through the effects into its output, which is silent on entry. Blocks have the
    ///     device's rate and the call's channels.
    ///   - owner: the owner of the callback's memory, retained as long as the call may render.
    package init(names: [String], latency: Double, callback: RenderCallback, owner: any AnyObject & Sendable) {
        self.names = names
        self.latency = latency
        self.callback = callback
        self.owner = owner
    }
}
