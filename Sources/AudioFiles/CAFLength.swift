// SPDX-License-Identifier: Apache-2.0

/// Corrects the length of a CAF file that was cut off. libsndfile refuses such a file.
enum CAFLength {
    private static let maximumChunkCount = 1_000

    /// Returns the file with the length of its sound corrected; nil if the file is complete, or not CAF.
    static func corrected(_ file: ReadableFile) -> PatchedFileView? {
        guard StreamBuffer(file.bytes(at: 0, count: 8)).begins(with: "caff") else { return nil }
        var offset = 8
        for _ in 0..<maximumChunkCount {
            let head = StreamBuffer(file.bytes(at: offset, count: 12))
            guard head.count == 12 else { return nil }
            let (size, start) = (head.bigEndian(4, 8), offset + 12)
            let isSound = head.begins(with: "data")
            // A size of −1 means that the chunk extends to the end of the file.
            guard size >= 0 else { return nil }
            if size > file.byteCount - start {
                guard isSound else { return nil }
                let remainingBytes = UInt64(file.byteCount - start)
                let patch = (0..<8).map { UInt8(truncatingIfNeeded: remainingBytes >> (56 - 8 * $0)) }
                return PatchedFileView(file, byteCount: file.byteCount, patch: patch, at: offset + 4)
            }
            offset = start + size
        }
        return nil
    }
}
