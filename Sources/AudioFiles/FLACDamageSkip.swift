// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import Glibc

/// Continues a FLAC file after damage. After an error libsndfile can no longer read or seek its open file, so the file is opened
/// anew.
struct FLACDamageSkip {
    private let source: ReadableFile
    private let part: PatchedFileView?
    private let blockFrames: Int
    /// The number of blocks after the damage that are tried one by one; then the distance doubles with each try.
    private static let singleSteps = 16

    /// - Parameter part: is read in place of the whole file, if there is one.
    init?(_ source: ReadableFile, _ part: PatchedFileView?) {
        guard let info = FLACStreamInfo(source.bytes, at: ID3Prefix.length(source)), info.largestBlock > 0 else {
            return nil
        }
        self.source = source
        self.part = part
        blockFrames = info.largestBlock
    }

    /// Opens the file anew by libsndfile; nil if that fails.
    func open() -> OpaquePointer? {
        var info = SF_INFO()
        // The old handle moved the descriptor's position, at which libsndfile looks for the header.
        lseek(source.descriptor, 0, SEEK_SET)
        return part.map { $0.open(&info) } ?? Libsndfile.open(source.descriptor, CInt(SFM_READ), &info)
    }

    /// Opens the file anew at the first block after `frame` that can be decoded. Returns libsndfile's file and the block's first
    /// frame; nil if there is no such block.
    func reopen(after frame: Int, frameCount: Int) -> (file: OpaquePointer, frame: Int)? {
        var step = 1
        var target = (frame / blockFrames + 1) * blockFrames
        while target < frameCount {
            guard let file = open() else { return nil }
            if sf_seek(file, sf_count_t(target), SEEK_SET) == sf_count_t(target) { return (file, target) }
            sf_close(file)
            step += 1
            target += step > Self.singleSteps ? blockFrames << min(step - Self.singleSteps, 20) : blockFrames
        }
        return nil
    }
}
