// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile

/// The broadcast extension of a WAV file (EBU Tech 3285): the time at which the sound begins, its origin and its description.
package struct BroadcastInfo: Hashable, Sendable {
    private var bytes: [UInt8]  // an `SF_BROADCAST_INFO`

    /// Reads the extension of an open file; nil if the file has none.
    init?(_ file: OpaquePointer) {
        // libsndfile reads at most 16 KiB of coding history.
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<SF_BROADCAST_INFO>.size + (16 << 10))
        guard sf_command(file, CInt(SFC_GET_BROADCAST_INFO), &bytes, CInt(bytes.count)) != 0 else { return nil }
        self.bytes = bytes
    }

    private var info: SF_BROADCAST_INFO {
        get { bytes.withUnsafeBytes { $0.loadUnaligned(as: SF_BROADCAST_INFO.self) } }
        set { withUnsafeBytes(of: newValue) { bytes.replaceSubrange(0..<$0.count, with: $0) } }
    }

    /// The time of the file's first frame, in frames since midnight.
    package var timeReference: Int {
        get { Int(info.time_reference_high) << 32 | Int(info.time_reference_low) }
        set {
            info.time_reference_low = UInt32(truncatingIfNeeded: newValue)
            info.time_reference_high = UInt32(truncatingIfNeeded: newValue >> 32)
        }
    }

    /// Returns the extension with its time for another sample rate.
    package func scaled(by ratio: Double) -> BroadcastInfo {
        var scaled = self
        // The 64 bits of a file may be any number.
        scaled.timeReference = Int(max(0, min((Double(timeReference) * ratio).rounded(), 0x1p62)))
        return scaled
    }

    /// Writes the extension to a new file, before its first frame.
    func write(to file: OpaquePointer) {
        var bytes = bytes
        // libsndfile wants the size with the history, and no more.
        let historyOffset = MemoryLayout<SF_BROADCAST_INFO>.offset(of: \.coding_history) ?? 0
        let count = min(bytes.count, historyOffset + Int(info.coding_history_size))
        sf_command(file, CInt(SFC_SET_BROADCAST_INFO), &bytes, CInt(count))
    }
}
