// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotDuet

/// A take of two devices that is mapped anew.
@Suite struct TakeHistoryTests {
    private static let jump: Int64 = 150_000 + 50

    /// Returns the song frame that is played at a frame of the device; nil in an underrun.
    private func songFrame(_ frame: Int64) -> Int64? {
        if frame < Self.jump { return frame }
        return (200_000..<200_300).contains(frame) ? nil : frame - Self.jump
    }

    /// Plays six seconds. Without silence the song jumps to its beginning, which is in later frames of the ring. Then some frames
    /// are missing.
    private func mapper(jitter: Double) -> TakeMapper {
        var random = SeededRandom(seed: 21)
        var mapper = TakeMapper(.separate, sampleRate: 48_000)
        for frames in [0..<160_000, 160_000..<360_000] as [Range<Int64>] {
            mapper.add(
                ring: SongMap.Piece(
                    frame: frames.lowerBound, frameCount: Int64(frames.count), position: SongPosition(frame: 0),
                    rate: SongPosition.unitsPerFrame, hostTime: HostTime(nanoseconds: 0)))
        }
        for start in stride(from: 0, to: Int64(6 * 48_000), by: 100) {
            func block() -> DeviceBlock {
                DeviceBlock(
                    sampleTime: start, frameCount: 100, hostTime: SingerRig.hostTime(Double(start) / 48_000),
                    latency: 0.01, lateness: jitter * (2 * random.unit() - 1))
            }
            let played = block()
            var offset = 0
            while offset < 100 {
                let frame = start + Int64(offset)
                let count = frame < Self.jump ? min(100 - offset, Int(Self.jump - frame)) : 100 - offset
                let ringFrame = frame < Self.jump ? frame : 160_000 + frame - Self.jump
                mapper.add(
                    PlayedBlock(
                        played, offset: offset, frameCount: count, ringFrame: Int(ringFrame),
                        silence: songFrame(frame) == nil ? .underrun : nil))
                offset += count
            }
            mapper.add(CapturedBlock(block(), takeFrame: start))
        }
        mapper.finish()
        return mapper
    }

    @Test func `a take is mapped anew with its jumps and gaps`() throws {
        let entries = try #require(mapper(jitter: 1e-6).smoothedEntries())
        var map = SongMap()
        for entry in entries {
            switch entry {
            case .piece(let piece): map.append(piece)
            case .gap(let gap): map.append(gap)
            }
        }
        // A captured frame was heard 10 ms before its block and left 10 ms after the block that played it.
        let shift: Int64 = 960
        for frame in stride(from: shift + 3, to: 6 * 48_000 - 100, by: 1) {
            let nearChange = [Self.jump, 200_000, 200_300].contains { abs(frame - shift - $0) <= 2 }
            let (truth, position) = (songFrame(frame - shift), map.position(at: frame))
            guard let truth, let position else {
                if !nearChange, (truth == nil) != (position == nil) { Issue.record("frame \(frame)") }
                continue
            }
            if !nearChange, abs(position.frames - Double(truth)) > 0.05 { Issue.record("frame \(frame)") }
        }
        #expect(map.gaps.map(\.reason) == [.unknown, .underrun] && map.gaps.last?.frameCount ?? 0 == 300)
        #expect(map.pieces.count < 20)
    }

    @Test func `exact callbacks, one device and other devices leave the first map`() {
        #expect(mapper(jitter: 0).smoothedEntries() == nil)
        #expect(TakeMapper(.shared, sampleRate: 48_000).smoothedEntries() == nil)
        var changed = mapper(jitter: 1e-6)
        changed.changeDevices(to: .separate)
        #expect(changed.smoothedEntries() == nil)
    }
}
