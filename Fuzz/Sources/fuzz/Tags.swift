// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Glibc

/// A file in memory that every run overwrites. Its name has the same length in each process.
private let path = "/dev/shm/earshot-fuzz-\(10_000_000 + getpid())"

/// Reads a file's tags, and its length if its header does not declare it. Tags that were read are written; then the file must be
/// readable or unchanged.
func fuzzTags(_ input: UnsafeRawBufferPointer) -> CInt {
    let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { return 0 }
    _ = write(file, input.baseAddress, input.count)
    close(file)
    defer { unlink(path) }
    _ = try? AudioFileInfo(path: path)
    guard let tags = try? AudioFileTags(path: path) else { return 0 }
    for picture in tags.pictures { precondition(picture.bytes.count <= AudioFileTags.Picture.maximumByteCount) }
    if (try? tags.write(to: path)) != nil {
        precondition((try? AudioFileTags(path: path)) != nil)
    } else {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: input.count + 1)
        precondition(read(file, &bytes, bytes.count) == input.count && bytes.dropLast().elementsEqual(input))
    }
    return 0
}

/// Returns a small file of each kind that is easy to make by hand.
func tagSeeds() -> [[UInt8]] {
    let text = [0x54, 0x49, 0x54, 0x32, 0, 0, 0, 6, 0, 0, 3] + Array("Title".utf8)  // TIT2
    let picture = Array("APIC".utf8) + [0, 0, 0, 16, 0, 0, 0] + Array("image/png".utf8) + [0, 3, 0, 1, 2, 3]
    let body = text + picture
    let id3 = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(body.count)] + body
    let frame: [UInt8] = [0xFF, 0xFB, 0x90, 0xC4] + [UInt8](repeating: 0, count: 413)
    func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 0xFF) } }
    func big(_ value: Int) -> [UInt8] { little(value).reversed() }
    let format = Array("fmt ".utf8) + little(16) + [1, 0, 1, 0] + little(8_000) + little(16_000) + [2, 0, 16, 0]
    let chunks = format + Array("data".utf8) + little(4) + [1, 2, 3, 4] + Array("ID3 ".utf8) + little(id3.count) + id3
    let wave = Array("RIFF".utf8) + little(chunks.count + 4) + Array("WAVE".utf8) + chunks
    let comment = little(1) + [0x78] + little(1) + little(7) + Array("TITLE=A".utf8)
    let info: [UInt8] =
        [16, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0x0B, 0xB8, 0, 0xF0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 16)
    let flac = Array("fLaC".utf8) + [0, 0, 0, 34] + info + [0x84, 0, 0, UInt8(comment.count)] + comment
    func atom(_ name: String, _ body: [UInt8]) -> [UInt8] { big(body.count + 8) + Array(name.utf8) + body }
    let data = atom("data", big(1) + big(0) + Array("Title".utf8))
    let item = big(data.count + 8) + [0xA9, 0x6E, 0x61, 0x6D] + data
    let list = atom("udta", atom("meta", big(0) + atom("ilst", item)))
    let header = atom("mdhd", [UInt8](repeating: 0, count: 24))
    let handler = atom("hdlr", big(0) + big(0) + Array("soun".utf8) + big(0) + big(0) + big(0))
    let movie =
        atom("ftyp", Array("M4A ".utf8) + big(0)) + atom("moov", atom("trak", atom("mdia", header + handler)) + list)
    return [id3 + frame + frame, wave, flac, movie, Array("OggS".utf8)]
}
