// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Corrects the header that libsndfile writes for ``AudioFileType/rf64``. Many programs do not read its extensible format, so one
/// or two channels get the plain format in the same space. The peak chunk contains the time of day, so it becomes padding.
///
/// The file is valid without the corrections, so they can be made after each update of the header.
struct WAVHeaderPatch {
    private let isPlain: Bool
    private let formatTag: [UInt8]

    /// Creates the patch of a new file; nil for other types.
    init?(_ plan: SndfilePlan) {
        guard plan.type == .rf64 else { return nil }
        isPlain = plan.channelCount <= 2
        formatTag = plan.stored == .float32 ? [3, 0] : [1, 0]
    }

    /// Reads the header, whose chunks move when the file becomes an RF64, and overwrites the format and the peak chunk.
    func apply(_ descriptor: CInt) {
        // A broadcast extension has about 900 bytes.
        var header = [UInt8](repeating: 0, count: 2_048)
        let count = max(0, pread(descriptor, &header, header.count, 0))
        let bytes = StreamBuffer(Array(header.prefix(count)))
        var at = 12
        while at + 8 <= bytes.count, !bytes.begins(with: "data", at: at) {
            let length = bytes.littleEndian(at + 4, 4)
            var patched: [UInt8] = []
            if bytes.begins(with: "fmt ", at: at), length == 40, at + 48 <= bytes.count, isPlain {
                let format = formatTag + bytes.copy(at + 10..<at + 24) + (formatTag[0] == 3 ? [0, 0] : [])
                patched = Self.chunk("fmt ", format) + Self.paddingChunk(40 - 8 - format.count)
            } else if bytes.begins(with: "PEAK", at: at) {
                patched = Self.paddingChunk(length)
            }
            if !patched.isEmpty {
                _ = patched.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(at)) }
            }
            at += 8 + length
        }
    }

    private static func paddingChunk(_ length: Int) -> [UInt8] { chunk("JUNK", [UInt8](repeating: 0, count: length)) }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + (0..<4).map { UInt8(content.count >> (8 * $0) & 0xFF) } + content
    }
}
