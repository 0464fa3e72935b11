// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

extension PlugIn {
    /// A new unit of this plug-in, its parameters at their defaults. Control thread.
    ///
    /// A plug-in of one channel runs once for each; of two, or of one and two, it fits one channel and two: one stands for
    /// both of the others, and two are heard as their mean. The unit's latency is what the plug-in reports at its defaults.
    /// - Parameters:
    ///   - sampleRate: hertz, 8,000 to 384,000.
    ///   - channelCount: 1 to 32, of input and output; a generator has no input.
    ///   - blocks: as the caller's where nothing is said, but of 64 frames for a plug-in that needs them of one length.
    /// - Throws: ``problem``, ``PlugInError/unsupportedChannels(plugIn:inputs:outputs:asked:)`` or
    ///   ``PlugInError/instantiationFailed(plugIn:sampleRate:words:)``.
    public func makeUnit(
        sampleRate: Double, channelCount: Int, blocks: PlugInBlocks? = nil
    ) throws(PlugInError) -> UnitInstance {
        precondition(AudioFormat.sampleRates.contains(sampleRate) && AudioFormat.channelCounts.contains(channelCount))
        var blocks = blocks ?? .asCalled
        if needsFixedBlocks, blocks == .asCalled { blocks = .fixed(64) }
        if case .fixed(let count) = blocks { precondition([16, 32, 64, 128, 256].contains(count)) }
        if let problem { throw problem }
        guard let copies = copyCount(channelCount) else {
            throw .unsupportedChannels(
                plugIn: description.name, inputs: audioInputCount, outputs: audioOutputCount, asked: channelCount)
        }
        let unit = try PlugInUnit(self, copies, sampleRate: sampleRate, channelCount: channelCount, blocks)
        let isGenerator = audioInputCount == 0
        let latency = unit.latency
        return UnitInstance(
            description: description, functions: PlugInRenderer.functions,
            state: UnsafeMutableRawPointer(unit.renderer),
            sampleRate: sampleRate, inputChannelCount: isGenerator ? 0 : channelCount, outputChannelCount: channelCount,
            latency: latency,
            // A plug-in does not say how long it remembers; a generator never ends.
            memory: isGenerator ? Int(Int32.max) : latency + Int(30 * sampleRate)
        ) { _ in withExtendedLifetime(unit) {} }
    }

    /// Returns the number of plug-ins for these channels; nil if they do not fit.
    private func copyCount(_ channelCount: Int) -> Int? {
        let (inputs, outputs) = (audioInputCount, audioOutputCount)
        if inputs == 1, outputs == 1 { return channelCount }
        if inputs == 0, outputs == 1 { return 1 }
        if (inputs == channelCount || inputs == 0) && outputs == channelCount { return 1 }
        return inputs <= 2 && outputs <= 2 && channelCount <= 2 ? 1 : nil
    }
}
