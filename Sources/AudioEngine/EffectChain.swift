// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Effects in series behind one render callback, such as in a call's voice path. The chain must live as long as its callback may
/// be called.
package final class EffectChain: Sendable {
    /// The effects in signal order. Their parameters may change while the chain renders.
    package let effects: [AudioUnitEffect]
    /// Renders ``IOCycle/input`` through the effects into ``IOCycle/output``, which must be silent on entry.
    package let callback: RenderCallback
    /// The delay in seconds from the callback's input to its output.
    package let latency: Double
    private let engine = AudioEngine()

    /// Connects the effects and starts rendering.
    /// - Parameters:
    ///   - effects: effects that are attached to no engine.
    ///   - format: the format of input and output.
    /// - Throws: an ``AudioEngineError``, such as for an effect that does not support the format.
    package init(_ effects: [AudioUnitEffect], format: AudioFormat) throws(AudioEngineError) {
        self.effects = effects
        try engine.connectInSeries(effects)
        callback = try engine.startRealtimeRendering(format: format, inputChannelCount: format.channelCount)
        latency = engine.paths.map(\.latency).max() ?? 0
    }

    deinit { engine.stop() }
}

extension AudioEngine {
    /// Connects effects in series between the input and another node.
    /// - Parameters:
    ///   - destination: the node after the last effect; nil for the main mixer.
    ///   - format: the format of the connection from the input node to the first effect; nil for the input node's format.
    public func connectInSeries(
        _ effects: [AudioUnitEffect], to destination: AudioNode? = nil, format: AudioFormat? = nil
    ) throws(AudioEngineError) {
        let (input, destination) = (inputNode, destination ?? mainMixerNode)
        try edit { edit throws(AudioEngineError) in
            var last: AudioNode = input
            for effect in effects {
                try edit.attach(effect)
                try edit.connect(last, to: effect, format: last === input ? format : nil)
                last = effect
            }
            try edit.connect(last, to: destination)
        }
    }
}
