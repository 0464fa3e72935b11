// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs

/// Writes the boxes that describe one AAC track (ISO/IEC 14496-12 and 14496-14). All clocks in them count frames.
struct MovieTrack {
    /// The sizes of a file's packets, and the chunks of adjacent packets.
    struct Table {
        private(set) var sizes: [UInt32] = []
        private(set) var chunkOffsets: [Int] = []
        private(set) var chunkCounts: [Int] = []

        /// Adds a chunk of adjacent packets.
        mutating func add(chunkAt offset: Int, sizes: [Int]) {
            self.sizes += sizes.map { UInt32($0) }
            chunkOffsets.append(offset)
            chunkCounts.append(sizes.count)
        }
    }

    private let rate: Int
    private let channelCount: Int
    private let config: [UInt8]
    private let priming: Int
    private let packetFrames = AACEncoder.blockFrameCount

    init(_ encoder: AACEncoder) {
        rate = Int(encoder.sampleRate)
        channelCount = encoder.channelCount
        config = encoder.audioSpecificConfig
        priming = encoder.primingFrames
    }

    /// Writes a `moov` without packets, which announces fragments.
    func writeFragmentedMovie(_ box: inout BoxWriter) {
        box.box("moov") {
            movieHeader(&$0, duration: 0)
            trak(&$0, duration: 0, mediaDuration: 0, nil)
            $0.box("mvex") {
                $0.fullBox("trex") {
                    $0.put32(1)  // track
                    $0.put32(1)  // description
                    $0.put32(packetFrames)
                    $0.put32(0)  // size
                    $0.put32(0x0200_0000)  // no packet depends on another
                }
            }
        }
    }

    /// Writes a `moof`. Its packets must follow directly after the eight bytes of an `mdat`'s header.
    func writeFragmentHeader(_ box: inout BoxWriter, number: Int, firstPacket: Int, sizes: [Int]) {
        let start = box.bytes.count
        var dataOffset = 0
        box.box("moof") {
            $0.fullBox("mfhd") { $0.put32(number) }
            $0.box("traf") {
                $0.fullBox("tfhd", flags: 0x02_0000) { $0.put32(1) }  // offsets count from the moof
                $0.fullBox("tfdt", version: 1) { $0.put64(firstPacket * packetFrames) }
                $0.fullBox("trun", flags: 0x201) {
                    $0.put32(sizes.count)
                    dataOffset = $0.bytes.count
                    $0.put32(0)
                    for size in sizes { $0.put32(size) }
                }
            }
        }
        box.set32(box.bytes.count - start + 8, at: dataOffset)
    }

    /// Writes a `moov` with all packets. The sound is `frameCount` frames after the priming.
    func writeMovie(_ box: inout BoxWriter, _ table: Table, frameCount: Int) {
        let decoded = table.sizes.count * packetFrames
        let frames = max(0, min(frameCount, decoded - priming))
        box.box("moov") {
            movieHeader(&$0, duration: frames)
            trak(&$0, duration: frames, mediaDuration: min(decoded, priming + frames), table)
        }
    }

    private func movieHeader(_ box: inout BoxWriter, duration: Int) {
        let wide = duration > Int(UInt32.max)
        box.fullBox("mvhd", version: wide ? 1 : 0) {
            times(&$0, wide)
            $0.put32(rate)
            if wide { $0.put64(duration) } else { $0.put32(duration) }
            $0.put32(0x1_0000)  // speed 1
            $0.put16(0x100)  // volume 1
            $0.zeros(10)
            matrix(&$0)
            $0.zeros(24)
            $0.put32(2)  // the next track's number
        }
    }

    /// Writes empty creation and modification times.
    private func times(_ box: inout BoxWriter, _ wide: Bool) { box.zeros(wide ? 16 : 8) }

    private func matrix(_ box: inout BoxWriter) {
        for value in [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000] { box.put32(value) }
    }

    private func trak(_ box: inout BoxWriter, duration: Int, mediaDuration: Int, _ table: Table?) {
        let wide = mediaDuration > Int(UInt32.max)
        func put(_ duration: Int, _ box: inout BoxWriter) {
            if wide { box.put64(duration) } else { box.put32(duration) }
        }
        box.box("trak") {
            $0.fullBox("tkhd", version: wide ? 1 : 0, flags: 3) {
                times(&$0, wide)
                $0.put32(1)
                $0.put32(0)
                put(duration, &$0)
                $0.zeros(8)
                $0.put16(0)  // layer
                $0.put16(1)  // group of alternatives
                $0.put16(0x100)
                $0.put16(0)
                matrix(&$0)
                $0.zeros(8)
            }
            $0.box("edts") {
                $0.fullBox("elst", version: wide ? 1 : 0) {
                    $0.put32(1)
                    put(duration, &$0)
                    put(priming, &$0)
                    $0.put32(0x1_0000)
                }
            }
            $0.box("mdia") {
                $0.fullBox("mdhd", version: wide ? 1 : 0) {
                    times(&$0, wide)
                    $0.put32(rate)
                    put(mediaDuration, &$0)
                    $0.put16(0x55C4)  // no language
                    $0.put16(0)
                }
                $0.fullBox("hdlr") {
                    $0.put32(0)
                    $0.put("soun")
                    $0.zeros(12)
                    $0.put("Sound\0")
                }
                $0.box("minf") {
                    $0.fullBox("smhd") { $0.put32(0) }
                    $0.box("dinf") {
                        $0.fullBox("dref") {
                            $0.put32(1)
                            $0.fullBox("url ", flags: 1) { _ in }  // in this file
                        }
                    }
                    $0.box("stbl") {
                        description(&$0)
                        packets(&$0, table ?? Table(), mediaDuration)
                    }
                }
            }
        }
    }

    private func description(_ box: inout BoxWriter) {
        box.fullBox("stsd") {
            $0.put32(1)
            $0.box("mp4a") {
                $0.zeros(6)
                $0.put16(1)
                $0.zeros(8)
                $0.put16(channelCount)
                $0.put16(16)
                $0.put32(0)
                $0.put32(rate << 16)
                $0.fullBox("esds") {
                    $0.put8(3)
                    $0.put8(3 + 2 + 13 + 2 + config.count + 3)
                    $0.put16(1)
                    $0.put8(0)
                    $0.put8(4)
                    $0.put8(13 + 2 + config.count)
                    $0.put8(0x40)  // MPEG-4 audio
                    $0.put8(0x15)  // an audio stream
                    $0.zeros(3 + 4 + 4)  // buffer and bit rates: not said
                    $0.put8(5)
                    $0.put8(config.count)
                    $0.put(config)
                    $0.put([6, 1, 2])
                }
            }
        }
    }

    private func packets(_ box: inout BoxWriter, _ table: Table, _ mediaDuration: Int) {
        let fullPacketCount = mediaDuration / packetFrames
        let lastPacketFrames = mediaDuration % packetFrames
        var durations = [(fullPacketCount, packetFrames)]
        if lastPacketFrames > 0 { durations.append((1, lastPacketFrames)) }
        durations.append((table.sizes.count - fullPacketCount - (lastPacketFrames > 0 ? 1 : 0), 0))
        durations.removeAll { $0.0 <= 0 }
        box.fullBox("stts") {
            $0.put32(durations.count)
            for (count, frames) in durations {
                $0.put32(count)
                $0.put32(frames)
            }
        }
        // The chunks that begin a run of chunks with the same number of packets.
        let starts = table.chunkCounts.indices.filter { $0 == 0 || table.chunkCounts[$0] != table.chunkCounts[$0 - 1] }
        box.fullBox("stsc") {
            $0.put32(starts.count)
            for chunk in starts {
                $0.put32(chunk + 1)
                $0.put32(table.chunkCounts[chunk])
                $0.put32(1)
            }
        }
        box.fullBox("stsz") {
            $0.put32(0)
            $0.put32(table.sizes.count)
            for size in table.sizes { $0.put32(Int(size)) }
        }
        let isBeyond32Bits = (table.chunkOffsets.last ?? 0) > Int(UInt32.max)
        box.fullBox(isBeyond32Bits ? "co64" : "stco") {
            $0.put32(table.chunkOffsets.count)
            for offset in table.chunkOffsets {
                if isBeyond32Bits { $0.put64(offset) } else { $0.put32(offset) }
            }
        }
    }
}
