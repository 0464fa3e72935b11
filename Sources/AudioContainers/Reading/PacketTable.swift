// SPDX-License-Identifier: Apache-2.0

/// The positions and sizes of a file's packets, in decoding order.
struct PacketTable {
    /// The offset of each packet in the file.
    private(set) var offsets: [Int] = []
    /// The size of each packet in bytes.
    private(set) var sizes: [Int32] = []
    /// The faults to report when a packet is read, by the packet's number.
    var faults: [Int: String] = [:]

    /// A longer packet is invalid: 8 channels of 4,096 uncompressed frames of 32 bits, with some reserve.
    static let maximumPacketByteCount = 1 << 21

    /// The number of packets.
    var count: Int { offsets.count }

    /// Appends a packet.
    mutating func append(offset: Int, size: Int) {
        offsets.append(offset)
        sizes.append(Int32(clamping: size))
    }

    /// Reserves capacity for more packets.
    mutating func reserve(_ count: Int) {
        offsets.reserveCapacity(count)
        sizes.reserveCapacity(count)
    }
}

/// The position of the sound in the decoded packets, in ticks of the container's clocks.
struct TrackTiming: Equatable {
    /// Ticks per second of ``mediaDuration`` and ``editStart``.
    var timescale = 0
    /// The duration of all packets, in ticks of ``timescale``; 0 if the container does not declare it.
    var mediaDuration = 0
    /// The beginning of the sound in the decoded packets, in ticks of ``timescale``.
    var editStart = 0
    /// Ticks per second of ``editDuration``.
    var editTimescale = 0
    /// The duration of the sound, in ticks of ``editTimescale``; 0 if the container does not declare it.
    var editDuration = 0
    /// The values of an iTunSMPB comment, in frames; nil if there is none.
    var gapless: (priming: Int, valid: Int)?

    static func == (a: TrackTiming, b: TrackTiming) -> Bool {
        a.timescale == b.timescale && a.mediaDuration == b.mediaDuration && a.editStart == b.editStart
            && a.editTimescale == b.editTimescale && a.editDuration == b.editDuration
            && a.gapless?.priming == b.gapless?.priming && a.gapless?.valid == b.gapless?.valid
    }

    /// Returns the range of the sound in `decodedFrames` frames at `sampleRate`. Invalid values are clamped to the decoded
    /// frames.
    func sound(decodedFrames: Int, framesPerPacket: Int, sampleRate: Double) -> Range<Int> {
        func roundedRange(_ start: Double, _ end: Double) -> Range<Int> {
            let first = min(max(0, start.rounded()), Double(decodedFrames))
            return Int(first)..<Int(min(max(first, end.rounded()), Double(decodedFrames)))
        }
        if let gapless, gapless.priming >= 0, gapless.valid > 0, gapless.valid <= decodedFrames - gapless.priming {
            return gapless.priming..<gapless.priming + gapless.valid
        }
        guard timescale > 0 else { return 0..<decodedFrames }
        let ticks = sampleRate / Double(timescale)
        // Only the last packet may be declared shorter than its decoded frames; any other difference is a gap or an error.
        let declaredFrames = Double(mediaDuration) * ticks
        let mediaFrames =
            abs(declaredFrames - Double(decodedFrames)) <= Double(2 * framesPerPacket) && declaredFrames > 0
            ? min(declaredFrames, Double(decodedFrames)) : Double(decodedFrames)
        let start = Double(editStart) * ticks
        guard editTimescale > 0, editDuration > 0 else { return roundedRange(start, mediaFrames) }
        let end = start + Double(editDuration) * sampleRate / Double(editTimescale)
        // A movie's clock is often coarser than its media's. Within one tick the media's end is the more exact value.
        let coarseness = sampleRate > Double(editTimescale) ? sampleRate / Double(editTimescale) + 1 : 0
        return roundedRange(start, abs(end - mediaFrames) <= coarseness ? mediaFrames : min(end, mediaFrames))
    }
}
