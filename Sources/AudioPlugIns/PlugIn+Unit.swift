// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

extension PlugIn {
    /// Creates a unit of this plug-in with the parameters' default values. Control thread.
    ///
    /// A plug-in with one input and one output runs one instance per channel; any other plug-in runs one instance. A plug-in with
    /// at most two inputs and two outputs also fits a unit of one or two channels: one channel is copied to two, and two are
    /// mixed to their mean. A generator with one output is copied to all channels. The unit's latency is the one that the plug-in
    /// reports with its default values, plus the length of fixed blocks.
    /// - Parameters:
    ///   - sampleRate: hertz, 8,000 to 384,000.
    ///   - channelCount: 1 to 32, of input and output; a generator has no input.
    ///   - blocks: nil for ``PlugInBlocks/asCalled``, which becomes 64 fixed frames if ``needsFixedBlocks``.
    /// - Throws: ``problem``, ``PlugInError/unsupportedChannels(plugIn:inputs:outputs:asked:)`` or
    ///   ``PlugInError/instantiationFailed(plugIn:sampleRate:log:)``.
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
            // Plug-ins do not declare the length of their tail, so 30 s are assumed; a generator never ends.
            memory: isGenerator ? Int(Int32.max) : latency + Int(30 * sampleRate)
        ) { _ in withExtendedLifetime(unit) {} }
    }

    /// Returns the number of instances for a unit with this number of channels; nil if the plug-in's channels do not fit.
    private func copyCount(_ channelCount: Int) -> Int? {
        let (inputs, outputs) = (audioInputCount, audioOutputCount)
        if inputs == 1, outputs == 1 { return channelCount }
        if inputs == 0, outputs == 1 { return 1 }
        if (inputs == channelCount || inputs == 0) && outputs == channelCount { return 1 }
        return inputs <= 2 && outputs <= 2 && channelCount <= 2 ? 1 : nil
    }
}
