// SPDX-License-Identifier: Apache-2.0

/// The duration of one Opus packet.
public enum OpusFrameDuration: Int, CaseIterable, Hashable, Sendable {
    /// 2.5 ms: 120 frames.
    case microseconds2500 = 120
    /// 5 ms: 240 frames.
    case milliseconds5 = 240
    /// 10 ms: 480 frames.
    case milliseconds10 = 480
    /// 20 ms: 960 frames.
    case milliseconds20 = 960

    /// Creates a duration from its milliseconds; nil if that is not one of the cases.
    public init?(milliseconds: Double) {
        guard let duration = Self.allCases.first(where: { $0.milliseconds == milliseconds }) else { return nil }
        self = duration
    }

    /// The duration in frames at 48 kHz.
    public var frameCount: Int { rawValue }
    /// The duration in milliseconds: 2.5, 5, 10 or 20.
    public var milliseconds: Double { Double(rawValue) / 48 }
}
