// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A kind of unit, which creates any number of instances.
///
/// ```swift
/// let unit = UnitType.gain.makeUnit(sampleRate: 48_000, channelCount: 2)
/// ```
public struct UnitType: Sendable {
    /// The unit's name, parameters and presets.
    public let description: UnitDescription
    private let make: @Sendable (Double, Int) -> UnitInstance
    private let outputCount: @Sendable (Int) -> Int

    init<Kernel: UnitKernel & ~Copyable>(_: Kernel.Type) {
        description = Kernel.unit
        outputCount = { Kernel.outputChannelCount(of: $0) }
        make = { UnitInstance(Kernel.self, sampleRate: $0, channelCount: $1) }
    }

    /// Creates a unit with default values. Control thread.
    /// - Parameters:
    ///   - sampleRate: in hertz, 8,000 to 384,000.
    ///   - channelCount: the input channels, 1 to 32; the output usually has as many.
    public func makeUnit(sampleRate: Double, channelCount: Int) -> UnitInstance {
        precondition(AudioFormat.sampleRates.contains(sampleRate) && AudioFormat.channelCounts.contains(channelCount))
        return make(sampleRate, channelCount)
    }

    /// Returns the number of output channels for a number of input channels.
    public func outputChannelCount(of inputChannelCount: Int) -> Int { outputCount(inputChannelCount) }

    /// All of Earshot's effects, and the generator.
    public static var all: [UnitType] {
        [
            .gain, .equalizer, .compressor, .limiter, .gate, .delay, .reverb, .voiceChanger, .spatializer, .generator,
        ]
    }
}
