// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Converts its input to a sample rate and channel count. The connection to the node does the conversion.
public final class AudioConverterNode: AudioNode, @unchecked Sendable {
    /// The output format.
    public let format: AudioFormat

    /// Creates a converter to `format`.
    public init(to format: AudioFormat, name: String = "converter") {
        self.format = format
        super.init(name: name)
    }

    override var worksInPlace: Bool { true }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        NodeFormats(inputs: inputs.mapValues { _ in format }, output: format)
    }
}
