// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile

/// Continues a FLAC file after a damage. libsndfile cannot: after an error its file neither reads nor seeks, so a new one is opened.
struct FLACDamageSkip {
    private let source: ReadableFile
    private let part: PatchedFileView?
    private let blockFrames: Int
    /// The blocks after the damage that are tried one by one; then the distance doubles.
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

    /// Returns a new file of libsndfile's; nil if it does not open.
    func open() -> OpaquePointer? {
        var info = SF_INFO()
        return part.map { $0.open(&info) } ?? Libsndfile.open(source.descriptor, CInt(SFM_READ), &info)
    }

    /// Returns a new file at the first block behind `frame` that can be decoded, and the block's first frame; nil if there is none.
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
