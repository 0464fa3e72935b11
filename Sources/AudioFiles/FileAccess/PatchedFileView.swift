// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import Glibc

/// A part of a file that libsndfile reads like a whole file, with some bytes replaced, or added at the beginning. The view must
/// outlive libsndfile's file.
final class PatchedFileView {
    private let file: ReadableFile
    private let byteCount: Int
    private let prefix: [UInt8]
    /// The difference between a byte's offset in the file and its offset in the view.
    private let shift: Int
    private let patch: [UInt8]
    private let patchOffset: Int
    private var position = 0

    /// - Parameters:
    ///   - start: the offset in the file of the part's first byte.
    ///   - byteCount: the offset in the file at which the part ends.
    ///   - patch: replaces the bytes from `offset` on, which counts in the view.
    ///   - prefix: the bytes added before the part.
    init(
        _ file: ReadableFile, from start: Int = 0, byteCount: Int, patch: [UInt8] = [], at offset: Int = 0,
        prefix: [UInt8] = []
    ) {
        self.file = file
        self.prefix = prefix
        shift = start - prefix.count
        self.byteCount = max(0, byteCount - shift)
        self.patch = patch
        patchOffset = offset
    }

    /// Opens the view by libsndfile; nil if libsndfile does not read it as sound.
    func open(_ info: inout SF_INFO) -> OpaquePointer? {
        position = 0
        var calls = SF_VIRTUAL_IO()
        calls.get_filelen = { PatchedFileView.of($0).map { sf_count_t($0.byteCount) } ?? -1 }
        calls.tell = { PatchedFileView.of($0).map { sf_count_t($0.position) } ?? -1 }
        calls.write = { _, _, _ in 0 }
        calls.seek = { offset, whence, data in
            guard let part = PatchedFileView.of(data) else { return -1 }
            let base = whence == SEEK_CUR ? part.position : whence == SEEK_END ? part.byteCount : 0
            let (goal, overflow) = base.addingReportingOverflow(Int(offset))
            guard !overflow, goal >= 0 else { return -1 }
            part.position = goal
            return sf_count_t(goal)
        }
        calls.read = { bytes, count, data in
            guard let part = PatchedFileView.of(data), let bytes else { return 0 }
            let wanted = max(0, min(Int(count), part.byteCount - part.position))
            var done = 0
            while done < wanted, part.position + done < part.prefix.count {
                bytes.storeBytes(of: part.prefix[part.position + done], toByteOffset: done, as: UInt8.self)
                done += 1
            }
            let rest = UnsafeMutableRawBufferPointer(start: bytes + done, count: wanted - done)
            done += part.file.fill(rest, from: part.shift + part.position + done).count
            for (i, byte) in part.patch.enumerated() {
                let at = part.patchOffset + i - part.position
                if at >= 0, at < done { bytes.storeBytes(of: byte, toByteOffset: at, as: UInt8.self) }
            }
            part.position += done
            return sf_count_t(done)
        }
        return sf_open_virtual(&calls, CInt(SFM_READ), &info, Unmanaged.passUnretained(self).toOpaque())
    }

    private static func of(_ data: UnsafeMutableRawPointer?) -> PatchedFileView? {
        data.map { Unmanaged<PatchedFileView>.fromOpaque($0).takeUnretainedValue() }
    }
}
