// SPDX-License-Identifier: Apache-2.0

extension HostTime: Codable {
    /// Decodes the nanoseconds of `CLOCK_MONOTONIC`.
    public init(from decoder: any Decoder) throws {
        self.init(nanoseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Encodes the nanoseconds, which are valid on this machine only.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(nanoseconds)
    }
}
