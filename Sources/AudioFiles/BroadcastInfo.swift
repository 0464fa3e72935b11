// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile

/// The broadcast extension of a WAV file (EBU Tech 3285): the time at which the sound begins, its origin and its description.
package struct BroadcastInfo: Hashable, Sendable {
    private var bytes: [UInt8]  // an `SF_BROADCAST_INFO`

    /// Reads the extension of an open file; nil if the file has none.
    init?(_ file: OpaquePointer) {
        var info = SF_BROADCAST_INFO()
        let size = MemoryLayout<SF_BROADCAST_INFO>.size
        guard sf_command(file, CInt(SFC_GET_BROADCAST_INFO), &info, CInt(size)) != 0 else { return nil }
        bytes = withUnsafeBytes(of: &info) { Array($0.prefix(size)) }
    }

    private var info: SF_BROADCAST_INFO {
        get { bytes.withUnsafeBytes { $0.loadUnaligned(as: SF_BROADCAST_INFO.self) } }
        set { bytes = withUnsafeBytes(of: newValue) { Array($0.prefix(MemoryLayout<SF_BROADCAST_INFO>.size)) } }
    }

    /// The time of the file's first frame, in frames since midnight.
    package var timeReference: Int {
        get { Int(info.time_reference_high) << 32 | Int(info.time_reference_low) }
        set {
            info.time_reference_low = UInt32(truncatingIfNeeded: newValue)
            info.time_reference_high = UInt32(truncatingIfNeeded: newValue >> 32)
        }
    }

    /// Writes the extension to a new file, before its first frame.
    func write(to file: OpaquePointer) {
        var info = info
        sf_command(file, CInt(SFC_SET_BROADCAST_INFO), &info, CInt(MemoryLayout<SF_BROADCAST_INFO>.size))
    }
}
