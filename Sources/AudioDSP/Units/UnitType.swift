// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A kind of unit, of which any number can be made.
///
/// ```swift
/// let unit = UnitType.gain.makeUnit(sampleRate: 48_000, channelCount: 2)
/// ```
public struct UnitType: Sendable {
    /// Name, parameters, presets.
    public let description: UnitDescription
    private let make: @Sendable (Double, Int) -> UnitInstance
    private let channels: @Sendable (Int) -> Int

    init<Kernel: UnitKernel & ~Copyable>(_: Kernel.Type) {
        description = Kernel.unit
        channels = { Kernel.outputChannelCount(of: $0) }
        make = { UnitInstance(Kernel.self, sampleRate: $0, channelCount: $1) }
    }

    /// A new unit with its parameters at their defaults. Control thread.
    /// - Parameters:
    ///   - sampleRate: hertz, 8,000 to 384,000.
    ///   - channelCount: 1 to 32, of the input; the unit says what comes out, as a rule the same number.
    public func makeUnit(sampleRate: Double, channelCount: Int) -> UnitInstance {
        precondition(AudioFormat.sampleRates.contains(sampleRate) && AudioFormat.channelCounts.contains(channelCount))
        return make(sampleRate, channelCount)
    }

    /// Channels that come out where so many go in.
    public func outputChannelCount(of inputChannelCount: Int) -> Int { channels(inputChannelCount) }

    /// Every effect that Earshot brings.
    public static var all: [UnitType] {
        [
            .gain, .equalizer, .compressor, .limiter, .gate, .delay, .reverb, .voiceChanger, .spatializer, .generator,
        ]
    }
}
