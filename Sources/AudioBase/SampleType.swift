// SPDX-License-Identifier: Apache-2.0

/// The type of samples in a device's memory, in the machine's byte order; inside Earshot every sample is a Float.
public enum SampleType: String, Hashable, Sendable, BitwiseCopyable, CaseIterable, CustomStringConvertible {
    /// Unsigned; silence is 128.
    case uint8
    case int16
    /// Three bytes for each sample, without padding.
    case int24
    /// 24 bits in the low three of four bytes; the fourth byte is written as the sign and ignored when read.
    case int24In32
    case int32
    case float32
    case float64

    /// The bytes of a sample.
    public var byteCount: Int {
        @_noLocks get {
            switch self {
            case .uint8: 1
            case .int16: 2
            case .int24: 3
            case .int24In32, .int32, .float32: 4
            case .float64: 8
            }
        }
    }

    /// The display name.
    public var description: String {
        switch self {
        case .uint8: "8-bit unsigned"
        case .int16: "16-bit"
        case .int24: "24-bit packed"
        case .int24In32: "24-bit in 32"
        case .int32: "32-bit"
        case .float32: "32-bit float"
        case .float64: "64-bit float"
        }
    }
}
