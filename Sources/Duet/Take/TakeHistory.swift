// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Keeps all that two devices played and captured during a take, in blocks of a quarter of a second, to map the take anew when
/// all callbacks are known (``ClockHistory``).
struct TakeHistory: Sendable {
    /// The maximum number of blocks of one kind: 18 hours.
    private static let limit = 1 << 18

    private let sampleRate: Double
    private let blockLength: Int
    private var ring: [SongMap.Piece] = []
    private var played: [PlayedBlock] = []
    private var captured: [CapturedBlock] = []
    private var clocks: (output: ClockHistory, input: ClockHistory)

    init(sampleRate: Double) {
        self.sampleRate = sampleRate
        blockLength = max(1, min(65_536, Int(sampleRate / 4)))
        clocks = (
            ClockHistory(sampleRate: sampleRate, isPlaying: true),
            ClockHistory(sampleRate: sampleRate, isPlaying: false)
        )
    }

    /// True if the take is too long to be kept.
    var isFull: Bool { max(ring.count, played.count, captured.count) > Self.limit }

    mutating func add(ring piece: SongMap.Piece) {
        guard piece.isValid else { return }
        if let last = ring.last, last.end == piece.frame, last.rate == piece.rate, last.endPosition == piece.position {
            ring[ring.count - 1].frameCount += piece.frameCount
        } else {
            ring.append(piece)
        }
    }

    /// - Parameter part: valid.
    mutating func add(_ part: PlayedBlock) {
        clocks.output.add(part.block)
        let block = part.block.advanced(by: part.offset, frameCount: part.frameCount, sampleRate: sampleRate)
        if let last = played.last, last.silence == part.silence, last.block.continues(block, upTo: blockLength),
            part.silence != nil || last.ringFrame + last.frameCount == part.ringFrame
        {
            played[played.count - 1].block.frameCount += part.frameCount
            played[played.count - 1].frameCount += part.frameCount
        } else {
            played.append(
                PlayedBlock(
                    block, offset: 0, frameCount: part.frameCount, ringFrame: part.ringFrame, silence: part.silence))
        }
    }

    /// - Parameter new: valid.
    mutating func add(_ new: CapturedBlock) {
        clocks.input.add(new.block)
        if let last = captured.last, last.takeFrame + Int64(last.block.frameCount) == new.takeFrame,
            last.block.continues(new.block, upTo: blockLength)
        {
            captured[captured.count - 1].block.frameCount += new.block.frameCount
        } else {
            captured.append(new)
        }
    }

    /// Maps the take with the clocks by all callbacks. Returns nil if they tell nothing better than the devices' loops.
    func entries() -> [TakeMapper.Entry]? {
        let (output, input) = (clocks.output.smoothed, clocks.input.smoothed)
        guard !isFull, output != nil || input != nil else { return nil }
        let captured = captured.map { CapturedBlock(input?.smoothed($0.block) ?? $0.block, takeFrame: $0.takeFrame) }
        var mapper = TakeMapper(.separate, sampleRate: sampleRate, keepsHistory: false)
        var (ringIndex, capturedIndex) = (0, 0)
        for var part in played {
            part.block = output?.smoothed(part.block) ?? part.block
            while ringIndex < ring.count, ring[ringIndex].frame < Int64(part.ringFrame + part.frameCount) {
                mapper.add(ring: ring[ringIndex])
                ringIndex += 1
            }
            while capturedIndex < captured.count, captured[capturedIndex].block.hostTime < part.block.hostTime {
                mapper.add(captured[capturedIndex])
                capturedIndex += 1
            }
            mapper.add(part)
        }
        for block in captured[capturedIndex...] { mapper.add(block) }
        mapper.finish()
        return mapper.takeEntries()
    }
}

extension DeviceBlock {
    /// Returns frames of the block.
    fileprivate func advanced(by offset: Int, frameCount: Int, sampleRate: Double) -> DeviceBlock {
        DeviceBlock(
            sampleTime: sampleTime + Int64(offset), frameCount: frameCount,
            hostTime: hostTime.advanced(bySeconds: Double(offset) / sampleRate), latency: latency,
            clockFrame: clockFrame + Double(offset))
    }

    /// Returns true if another block may be appended to this one.
    fileprivate func continues(_ next: DeviceBlock, upTo length: Int) -> Bool {
        sampleTime + Int64(frameCount) == next.sampleTime && hasLatency(of: next)
            && frameCount + next.frameCount <= length
    }
}
