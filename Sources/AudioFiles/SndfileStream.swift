// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import Glibc

/// A stream as libsndfile's virtual file: writes at its end are passed on, and corrections of the header are ignored.
final class SndfileStream {
    let output: NonSeekableOutput
    /// The output's first error; nil if there was none.
    private(set) var error: AudioFileError?
    private let isWAV: Bool
    /// The position in the virtual file, whose length is `end`.
    private var position = 0
    private var end = 0
    private var hasHeader = false

    init(_ output: NonSeekableOutput, type: AudioFileType) {
        self.output = output
        isWAV = type == .wav
    }

    /// - Returns: libsndfile's file, which must not outlive this object; nil if libsndfile refuses.
    func open(_ info: inout SF_INFO) -> OpaquePointer? {
        var virtual = SF_VIRTUAL_IO(
            get_filelen: { sf_count_t(stream($0)?.end ?? 0) },
            seek: { offset, origin, user in stream(user)?.seek(Int(offset), origin) ?? -1 },
            read: { _, _, _ in 0 },
            write: { bytes, count, user in
                stream(user)?.write(UnsafeRawBufferPointer(start: bytes, count: Int(count))) ?? 0
            },
            tell: { sf_count_t(stream($0)?.position ?? 0) })
        return sf_open_virtual(&virtual, CInt(SFM_WRITE), &info, Unmanaged.passUnretained(self).toOpaque())
    }

    private func seek(_ offset: Int, _ origin: CInt) -> sf_count_t {
        switch origin {
        case SEEK_SET: position = offset
        case SEEK_CUR: position += offset
        default: position = end + offset
        }
        return sf_count_t(position)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> sf_count_t {
        let old = max(0, min(bytes.count, end - position))
        position += bytes.count
        guard old < bytes.count else { return sf_count_t(bytes.count) }
        end = position
        guard error == nil else { return 0 }
        do throws(AudioFileError) {
            let new = UnsafeRawBufferPointer(rebasing: bytes[old...])
            if isWAV, !hasHeader { try writeHeader(new) } else { try output.append(new) }
            return sf_count_t(bytes.count)
        } catch {
            self.error = error
            return 0
        }
    }

    /// Writes the header of a RIFF file, where an unknown length is the maximum.
    private func writeHeader(_ bytes: UnsafeRawBufferPointer) throws(AudioFileError) {
        hasHeader = true
        var header = Array(bytes)
        let unknown = [UInt8](repeating: 0xFF, count: 4)
        if header.count >= 8 { header.replaceSubrange(4..<8, with: unknown) }
        for at in stride(from: 12, to: header.count - 7, by: 1) where header[at...].starts(with: "data".utf8) {
            header.replaceSubrange(at + 4..<at + 8, with: unknown)
            break
        }
        var failure: AudioFileError?
        header.withUnsafeBytes { bytes in
            do throws(AudioFileError) { try output.append(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

private func stream(_ user: UnsafeMutableRawPointer?) -> SndfileStream? {
    user.map { Unmanaged<SndfileStream>.fromOpaque($0).takeUnretainedValue() }
}
