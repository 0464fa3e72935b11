// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

extension PlugIn {
    /// Creates a unit of this plug-in with the parameters' default values. Control thread.
    ///
    /// A plug-in with one channel runs one instance per channel. A plug-in with two channels, or one and two, also fits a
    /// unit of one or two channels: one channel is copied to two, and two are mixed to their mean. The unit's latency is the one
    /// that the plug-in reports with its default values.
    /// - Parameters:
    ///   - sampleRate: hertz, 8,000 to 384,000.
    ///   - channelCount: 1 to 32, of input and output; a generator has no input.
    ///   - blocks: nil for the caller's blocks, or blocks of 64 frames for a plug-in that needs a fixed length.
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
            // Plug-ins do not declare the length of their tail; a generator never ends.
            memory: isGenerator ? Int(Int32.max) : latency + Int(30 * sampleRate)
        ) { _ in withExtendedLifetime(unit) {} }
    }

    /// Returns the number of instances for these channels; nil if they do not fit.
    private func copyCount(_ channelCount: Int) -> Int? {
        let (inputs, outputs) = (audioInputCount, audioOutputCount)
        if inputs == 1, outputs == 1 { return channelCount }
        if inputs == 0, outputs == 1 { return 1 }
        if (inputs == channelCount || inputs == 0) && outputs == channelCount { return 1 }
        return inputs <= 2 && outputs <= 2 && channelCount <= 2 ? 1 : nil
    }
}
