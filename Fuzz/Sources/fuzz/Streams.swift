// SPDX-License-Identifier: Apache-2.0

@testable import EarshotAudioFiles
@testable import EarshotAudioStreams

/// A stream that is read whole and in pieces, whose sizes the first byte selects, must be the same or give the same error; its
/// declarations must be true.
func fuzzStream(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let first = input.first else { return 0 }
    var bytes = Array(input.dropFirst())
    mendPages(&bytes)
    let sizes = [[1], [2, 300, 1], [7], [100, 1_000]][Int(first & 3)]
    let (whole, held) = parse(bytes, [.max])
    let cut = parse(bytes, sizes).0
    precondition(whole.0 == cut.0 && whole.1 == cut.1, "cut differently, read differently")
    precondition(held < 1 << 18)
    var hasFormat = false
    var position = 0
    var skipped = 0
    for event in whole.0 {
        switch event {
        case .format(let format):
            hasFormat = true
            precondition(format.dataOffset >= 0 && format.frameCount ?? 0 >= 0)
        case .packet(let packet):
            precondition(hasFormat && packet.framePosition >= position && packet.frameCount >= 0)
            precondition((0...packet.frameCount).contains(packet.audibleFrames.lowerBound))
            precondition((0...packet.frameCount).contains(packet.audibleFrames.upperBound))
            position = packet.framePosition + packet.audibleFrames.count
        case .skipped(let count, let offset):
            precondition(count > 0 && offset >= 0)
            skipped += count
        }
    }
    precondition(skipped <= bytes.count)
    return 0
}

private func parse(_ bytes: [UInt8], _ sizes: [Int]) -> (([AudioStreamEvent], StreamParserError?), Int) {
    var parser = AudioStreamParser()
    var events: [AudioStreamEvent] = []
    var held = 0
    do throws(StreamParserError) {
        var (at, turn) = (0, 0)
        while at < bytes.count {
            let size = min(sizes[turn % sizes.count], bytes.count - at)
            try parser.parse(Array(bytes[at..<at + size]), into: &events)
            held = max(held, parser.heldByteCount)
            at += size
            turn += 1
        }
        try parser.finish(into: &events)
        for frame in [1_000, 20, Int.max] { try resume(&parser, bytes, at: frame) }
        return ((events, nil), held)
    } catch {
        return ((events, error), held)
    }
}

/// The stream at a hint can be read, too.
private func resume(_ parser: inout AudioStreamParser, _ bytes: [UInt8], at frame: Int) throws(StreamParserError) {
    guard let hint = parser.seekHint(forFrame: frame, byteCount: bytes.count) else { return }
    precondition(hint.byteOffset >= 0 && hint.framePosition >= 0)
    parser.resume(at: hint)
    var events: [AudioStreamEvent] = []
    try parser.parse(Array(bytes.dropFirst(hint.byteOffset)), into: &events)
    try parser.finish(into: &events)
    for case .packet(let packet) in events { precondition(packet.framePosition >= 0 && packet.frameCount >= 0) }
}

/// Titles and sound must not depend on how the bytes are cut, and no byte of sound may be lost.
func fuzzTitles(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let first = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    func read(_ size: Int) -> ([UInt8], [ICYParser.Title]) {
        var parser = ICYParser(interval: Int(first))
        var sound: [UInt8] = []
        var titles: [ICYParser.Title] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(bytes.count, start + size)].withUnsafeBytes { titles += parser.parse($0, into: &sound) }
        }
        return (sound, titles)
    }
    let (whole, cut) = (read(max(1, bytes.count)), read(1))
    precondition(whole.0 == cut.0 && whole.1 == cut.1)
    precondition(whole.0.count <= bytes.count && whole.1.allSatisfy { $0.offset <= whole.0.count })
    return 0
}

/// Each entry of a playlist must be requestable over http or https without showing a name or password.
func fuzzPlaylist(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let base = try? StreamAddress("http://radio.example/a/list"),
        let entries = try? StreamPlaylist.entries(Array(input), from: base)
    else { return 0 }
    precondition(!entries.isEmpty)
    for entry in entries {
        precondition(entry.text.lowercased().hasPrefix(entry.isSecure ? "https://" : "http://"))
        precondition(!entry.description.contains("@") || entry.text.contains("@"))
    }
    return 0
}

/// Three frames of layer III at 8 kHz and 8 kb/s: a byte that selects the pieces, headers, silence.
let mpegAudio: [UInt8] =
    [1] + (0..<3).flatMap { _ in [0xFF, 0xE3, 0x18, 0xC4] + [UInt8](repeating: 0, count: 68) }

/// Three frames of ADTS with ten bytes each.
let adts: [UInt8] =
    [0] + (0..<3).flatMap { _ in [0xFF, 0xF1, 0x50, 0x80, 0x02, 0x3F, 0xFC] + [UInt8](repeating: 0x21, count: 10) }

/// A WAVE of four frames.
let wave: [UInt8] =
    [2] + Array("RIFF".utf8) + [52, 0, 0, 0] + Array("WAVEfmt ".utf8)
    + [16, 0, 0, 0, 1, 0, 2, 0, 0x44, 0xAC, 0, 0, 0x10, 0xB1, 2, 0, 4, 0, 16, 0] + Array("data".utf8)
    + [16, 0, 0, 0] + [UInt8](repeating: 5, count: 16)

/// A page of Ogg with one packet; ``fuzzStream`` corrects its checksum.
private func page(_ packet: [UInt8], flags: UInt8, sequence: UInt8, granule: UInt8 = 0) -> [UInt8] {
    Array("OggS".utf8) + [0, flags, granule, 4, 0, 0, 0, 0, 0, 0] + [1, 0, 0, 0, sequence, 0, 0, 0, 0, 0, 0, 0]
        + [1, UInt8(packet.count)] + packet
}

/// Opus: two headers and a packet.
let opus: [UInt8] =
    [3] + page(Array("OpusHead".utf8) + [1, 2, 0x38, 1, 0x80, 0xBB, 0, 0, 0, 0, 0], flags: 2, sequence: 0)
    + page(
        Array("OpusTags".utf8) + [1, 0, 0, 0, 65, 1, 0, 0, 0, 7, 0, 0, 0] + Array("TITLE=a".utf8), flags: 0, sequence: 1
    )
    + page([0xFC, 1, 2, 3], flags: 4, sequence: 2, granule: 200)

/// Vorbis: three headers, of which the last has one mode, and a packet.
let vorbis: [UInt8] =
    [0]
    + page(
        [1] + Array("vorbis".utf8) + [0, 0, 0, 0, 2, 0x44, 0xAC, 0, 0] + [UInt8](repeating: 0, count: 12) + [0xB8, 1],
        flags: 2, sequence: 0)
    + page([3] + Array("vorbis".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 1], flags: 0, sequence: 1)
    + page([5] + Array("vorbis".utf8) + [0, 0, 0, 0, 0, 0x80], flags: 0, sequence: 2)
    + page([0, 1, 2], flags: 0, sequence: 3) + page([0, 1, 2], flags: 4, sequence: 4, granule: 100)

/// Corrects the checksums of successive pages. A fuzzer would hardly ever find them.
func mendPages(_ bytes: inout [UInt8]) {
    var at = 0
    while at + 27 <= bytes.count, bytes[at...].starts(with: Array("OggS".utf8)) {
        let count = Int(bytes[at + 26])
        guard at + 27 + count <= bytes.count else { return }
        let length = 27 + count + bytes[(at + 27)..<(at + 27 + count)].reduce(0) { $0 + Int($1) }
        guard at + length <= bytes.count else { return }
        for i in 22..<26 { bytes[at + i] = 0 }
        var sum: UInt32 = 0
        for byte in bytes[at..<at + length] {
            sum ^= UInt32(byte) << 24
            for _ in 0..<8 { sum = sum << 1 ^ (sum >> 31 == 1 ? 0x04C1_1DB7 : 0) }
        }
        for i in 0..<4 { bytes[at + 22 + i] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * i)) }
        at += length
    }
}
