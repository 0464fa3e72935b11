// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotDuet

@Suite struct SongMapTests {
    private static let unit = SongPosition.unitsPerFrame

    private func piece(_ frame: Int64, _ count: Int64, at position: SongPosition, rate: Int64 = unit) -> SongMap.Piece {
        SongMap.Piece(
            frame: frame, frameCount: count, position: position, rate: rate, hostTime: HostTime(nanoseconds: 0))
    }

    @Test func `a frame leads to a position and back`() {
        var map = SongMap()
        let rate = Self.unit + Self.unit / 3
        let isAppended = map.append(piece(100, 1_000, at: SongPosition(frame: 7, fraction: 12_345), rate: rate))
        #expect(isAppended)
        for frame in Int64(100)..<1_100 {
            let position = map.position(at: frame)
            #expect(position?.units == (Int128(7) << 40) + 12_345 + Int128(frame - 100) * Int128(rate))
            #expect(position.map { map.frames(at: $0) } == [SongPosition(frame: frame)])
        }
        #expect(map.position(at: 99) == nil)
        #expect(map.position(at: 1_100) == nil)
    }

    @Test func `a repeated passage has several frames`() {
        var map = SongMap()
        map.append(piece(0, 1_000, at: SongPosition(frame: 0)))
        map.append(piece(1_200, 500, at: SongPosition(frame: 400)))
        #expect(map.frames(at: SongPosition(frame: 450)) == [SongPosition(frame: 450), SongPosition(frame: 1_250)])
        #expect(map.frames(at: SongPosition(frame: 1_000)) == [])
    }

    @Test func `a piece that goes back is refused, and a full map takes no more`() {
        var map = SongMap()
        var isAppended = map.append(piece(0, 10, at: SongPosition(frame: 0)))
        #expect(isAppended)
        isAppended = map.append(piece(9, 10, at: SongPosition(frame: 9)))
        #expect(!isAppended)
        for index in 1..<Int64(SongMap.maximumCount) {
            map.append(piece(10 * index, 10, at: SongPosition(frame: 10 * index)))
        }
        #expect(map.pieces.count == SongMap.maximumCount)
        isAppended = map.append(piece(1 << 30, 10, at: SongPosition(frame: 0)))
        #expect(!isAppended)
    }

    /// 60 min of blocks of 128 frames whose ends are rounded to nanoseconds, with a rate that changes by 50 ppm.
    @Test func `an hour of segments has no accumulated error`() {
        var fitter = SongLineFitter(maximumLength: 24_000)
        var map = SongMap()
        let changeFrame = 90_000_000.0
        func position(_ frame: Int64) -> SongPosition {
            let (early, late) = (min(Double(frame), changeFrame), max(0, Double(frame) - changeFrame))
            let seconds = early / 48_000 * 1.00015 + late / 48_000 * 1.0002
            let nanoseconds = Int128((seconds * 1e9).rounded())
            return SongPosition(units: nanoseconds * 44_100 * Int128(Self.unit) / 1_000_000_000)
        }
        let length: Int64 = 128
        for frame in stride(from: Int64(0), to: 3_600 * 48_000, by: Int64.Stride(length)) {
            let closed = fitter.add(
                SongLineFitter.Segment(
                    frame: frame, frameCount: length, start: position(frame), end: position(frame + length),
                    hostTime: HostTime(nanoseconds: 0)))
            if let closed { map.append(closed) }
        }
        if let last = fitter.close() { map.append(last) }
        #expect(map.end == 3_600 * 48_000)
        #expect(map.pieces.count < 7_300)
        var largest = 0.0
        for frame in stride(from: Int64(0), to: map.end, by: 9_973) {
            let found = map.position(at: frame).map { Double($0.units - position(frame).units) / Double(Self.unit) }
            largest = max(largest, abs(found ?? .infinity))
        }
        #expect(largest < 0.001, "song frames")
    }

    @Test func `random pieces never trap`() {
        var random = SeededRandom(seed: 1)
        func number() -> Int64 {
            let bits = random.next() % 64
            return Int64(truncatingIfNeeded: random.next()) >> Int64(bits)
        }
        for _ in 0..<200 {
            var map = SongMap()
            for _ in 0..<40 {
                map.append(
                    piece(
                        number(), number(), at: SongPosition(units: Int128(number()) << Int128(random.next() % 64)),
                        rate: number()))
                map.append(SongMap.Gap(frame: number(), frameCount: number(), reason: .unknown))
                _ = map.position(at: number())
                _ = map.frames(at: SongPosition(units: Int128(number()) << 40))
            }
            let plan = StemPlan(map, frameCount: 1 << 40)
            #expect(
                zip(plan.sections, plan.sections.dropFirst()).allSatisfy {
                    $0.songFrames.upperBound <= $1.songFrames.lowerBound
                })
        }
    }

    @Test func `pieces that do not quite meet leave no song frame out`() {
        var map = SongMap()
        let part = Int128(Self.unit / 100)
        map.append(piece(0, 1_000, at: SongPosition(units: -part)))
        map.append(piece(1_000, 1_000, at: SongPosition(units: SongPosition(frame: 1_000).units + part)))
        #expect(StemPlan(map, frameCount: 2_000).gaps == [])
    }

    @Test func `the last attempt at a passage counts`() {
        var map = SongMap()
        map.append(piece(0, 1_000, at: SongPosition(frame: 0)))
        map.append(piece(1_000, 100, at: SongPosition(frame: 300)))
        map.append(piece(1_200, 100, at: SongPosition(frame: 1_500)))
        let plan = StemPlan(map, frameCount: 2_000)
        #expect(plan.sections.map(\.songFrames) == [0..<300, 300..<400, 400..<1_000, 1_500..<1_600])
        #expect(plan.sections.map(\.piece) == [0, 1, 0, 2])
        #expect(plan.gaps == [1_000..<1_500, 1_600..<2_000])
    }
}
