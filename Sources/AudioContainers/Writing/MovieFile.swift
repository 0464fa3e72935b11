// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotAudioFiles

/// An M4A file that is playable at any time while it is recorded, and becomes an ordinary one when closed, without a copy.
///
/// It begins with an empty `free` box and a `moov` that announces fragments. Then a fragment follows for each half second
/// (ISO/IEC 14496-12, 8.8). Closing appends a `moov` with all packets. When that is on the disk, the `free` box's sixteen bytes
/// become the header of one `mdat` that contains everything in between: one small write turns the fragmented file into the
/// ordinary one. So there is no second copy for which the disk could be too full, and a kill between two writes leaves one of the
/// two files.
final class MovieFile: PacketContainer {
    /// The number of packets in half a second.
    private let fragmentPacketCount: Int
    private let file: AppendingFile
    private let track: MovieTrack
    private let freeOffset: Int
    private var pendingBytes: [UInt8] = []
    private var pendingSizes: [Int] = []
    private var table = MovieTrack.Table()

    init(_ file: AppendingFile, _ encoder: AACEncoder) throws(AudioFileError) {
        self.file = file
        track = MovieTrack(encoder)
        fragmentPacketCount = Int(encoder.sampleRate / 2) / AACEncoder.blockFrameCount
        var head = BoxWriter()
        head.box("ftyp") {
            $0.put("M4A ")
            $0.put32(0x200)
            for brand in ["M4A ", "mp42", "isom", "iso5"] { $0.put(brand) }
        }
        freeOffset = head.bytes.count
        head.box("free") { $0.zeros(8) }
        track.writeFragmentedMovie(&head)
        try file.append(head.bytes)
    }

    func append(_ packet: UnsafeRawBufferPointer) throws(AudioFileError) {
        pendingBytes += packet
        pendingSizes.append(packet.count)
        if pendingSizes.count == fragmentPacketCount { try writeFragment() }
    }

    private func writeFragment() throws(AudioFileError) {
        guard !pendingSizes.isEmpty else { return }
        var box = BoxWriter()
        track.writeFragmentHeader(
            &box, number: table.chunkOffsets.count + 1, firstPacket: table.sizes.count, sizes: pendingSizes)
        box.put32(8 + pendingBytes.count)
        box.put("mdat")
        let offset = file.byteCount + box.bytes.count
        box.put(pendingBytes)
        pendingBytes.removeAll(keepingCapacity: true)
        let sizes = pendingSizes
        pendingSizes.removeAll(keepingCapacity: true)
        try file.append(box.bytes)
        table.add(chunkAt: offset, sizes: sizes)
    }

    func close(frameCount: Int) throws(AudioFileError) {
        var failure: AudioFileError?
        do { try writeFragment() } catch { failure = error }
        if file.stream != nil {  // a stream stays in fragments
            do { try file.close() } catch { failure = failure ?? error }
            if let failure { throw failure }
            return
        }
        let end = file.byteCount
        do {
            var movie = BoxWriter()
            track.writeMovie(&movie, table, frameCount: frameCount)
            try file.append(movie.bytes)
            try file.synchronize()
            var header = BoxWriter()
            header.put32(1)
            header.put("mdat")
            header.put64(end - freeOffset)
            try file.overwrite(header.bytes, at: freeOffset)
        } catch {
            file.truncate(to: end)  // the fragments still play
            failure = failure ?? error
        }
        do { try file.close() } catch { failure = failure ?? error }
        if let failure { throw failure }
    }
}
