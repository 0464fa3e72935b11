// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotDuet

@Suite struct SongLineFitterTests {
    /// The song's rate changes five times a second all the time.
    @Test func `pieces are exact soon after a second in which times wobble`() {
        let unit = Double(SongPosition.unitsPerFrame)
        var random = SeededRandom(seed: 31)
        var fitter = SongLineFitter(maximumLength: 24_000)
        var pieces: [SongMap.Piece] = []
        var (position, rate) = (SongPosition(units: 0), SongPosition.unitsPerFrame)
        var positions: [Int64: SongPosition] = [:]
        for frame in stride(from: 0, to: 6 * 48_000, by: 128) as StrideTo<Int64> {
            if frame % 9_600 < 128 { rate = Int64(unit * (1 + 4e-4 * (random.unit() - 0.5))) }
            let wobble = frame < 48_000 ? Int128(unit * 0.004 * (random.unit() - 0.5)) : 0
            let start = position
            position = SongPosition(units: start.units + 128 * Int128(rate) + wobble)
            positions[frame] = start
            let segment = SongLineFitter.Segment(
                frame: frame, frameCount: 128, start: start, end: position, hostTime: HostTime(nanoseconds: 0))
            if let piece = fitter.add(segment) { pieces.append(piece) }
        }
        var largest = 0.0
        for piece in pieces where piece.frame > 4 * 48_000 {
            for (frame, position) in positions where (piece.frame..<piece.end).contains(frame) {
                largest = max(largest, abs(piece.position(at: frame).frames - position.frames))
            }
        }
        #expect(pieces.contains { $0.frame > 5 * 48_000 })
        #expect(largest < 0x1p-11, "frames")
    }
}
