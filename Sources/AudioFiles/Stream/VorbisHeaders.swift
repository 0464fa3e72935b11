// SPDX-License-Identifier: Apache-2.0

/// The durations of packets, from the headers of Vorbis (Vorbis I, 4.2).
struct VorbisHeaders: Hashable {
    let sampleRate: Int
    let channelCount: Int
    private let blocks: [Int]  // short, long
    private var modes: [Bool] = []  // for each mode, true if its blocks are long

    /// Reads the identification header.
    init?(identification packet: [UInt8]) {
        guard packet.count >= 30, packet.starts(with: [1] + Array("vorbis".utf8) + [0, 0, 0, 0]) else { return nil }
        sampleRate = (0..<4).reversed().reduce(0) { $0 << 8 | Int(packet[12 + $1]) }
        channelCount = Int(packet[11])
        blocks = [1 << Int(packet[28] & 15), 1 << Int(packet[28] >> 4)]
        guard (1...8).contains(channelCount), (8_000...384_000).contains(sampleRate), packet[29] & 1 == 1,
            blocks[0] >= 64, blocks[0] <= blocks[1], blocks[1] <= 8_192
        else { return nil }
    }

    /// Reads the modes at the end of the setup header: 41 bits each, of which 32 are 0, after six bits with the number of modes
    /// less one. The header is read from its end, because the data before the modes cannot be skipped without parsing it. Returns
    /// false if no modes are found.
    mutating func readModes(setup packet: [UInt8]) -> Bool {
        guard packet.starts(with: [5] + Array("vorbis".utf8)) else { return false }
        func bits(_ at: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(packet[(at + $1) >> 3] >> UInt8((at + $1) & 7) & 1) << $1 }
        }
        var end = packet.count * 8 - 1
        while end > 56, bits(end, 1) == 0 { end -= 1 }  // the framing bit
        var found: [Bool] = []
        var reversed: [Bool] = []
        while reversed.count < 64, end - 41 - 6 >= 56, bits(end - 40, 32) == 0 {
            end -= 41
            reversed.append(bits(end, 1) == 1)
            if bits(end - 6, 6) == reversed.count - 1 { found = reversed.reversed() }
        }
        modes = found
        return !found.isEmpty
    }

    /// Returns the length of a packet's block; nil if it has no sound.
    func blockSize(_ packet: [UInt8]) -> Int? {
        guard let first = packet.first, first & 1 == 0 else { return nil }
        let width = Int.bitWidth - (modes.count - 1).leadingZeroBitCount
        let mode = Int(first >> 1) & ((1 << width) - 1)
        guard mode < modes.count else { return nil }
        return blocks[modes[mode] ? 1 : 0]
    }
}
