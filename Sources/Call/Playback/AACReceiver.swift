// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport
import EarshotPlayout

/// Decodes AAC ahead of playout, in order, on the media thread: the decoder may allocate, and each frame overlaps the previous
/// frame. So a frame waits briefly for an earlier frame that it has overtaken.
struct AACReceiver {
    /// The access units that arrived after they, or later ones, were decoded or skipped.
    private(set) var lateUnits = 0
    /// The access units that could not be decoded.
    private(set) var corruptUnits = 0
    /// The access units rejected because the playout's queue was full.
    private(set) var rejectedUnits = 0

    private struct Unit {
        var position: Int
        var arrival: HostTime
        var bytes: [UInt8]
    }

    private let decoder: AACDecoder
    private let output: AudioBuffer
    private let channelCount: Int
    private var reorderBuffer: [Unit] = []
    private var nextPosition: Int?
    private var sequence = 0
    private var startsStream = true
    private static let unitFrames = 1024
    private let holdTime: Double
    private let reorderCapacity: Int
    /// From this many missing frames on, a unit does not overlap the last decoded one: that was concealed until nothing of it was
    /// left, and would be heard once more.
    private static let forgottenDistance = 2 * unitFrames
    /// The maximum jump of the timeline in frames; a greater one counts as a new beginning.
    private static let foreignDistance = 96_000

    /// - Parameter holdTime: the seconds for which a unit waits for an earlier one. Units are 23 ms apart, so they are reordered
    ///   only within a queue. In live playout each millisecond of waiting adds one millisecond of concealment to each loss.
    init(audioSpecificConfig: [UInt8], channelCount: Int, holdTime: Double = 0.001) throws(CodecError) {
        self.holdTime = holdTime
        reorderCapacity = 3 + Int(holdTime * 48_000) / Self.unitFrames
        decoder = try AACDecoder(audioSpecificConfig: audioSpecificConfig)
        output = AudioBuffer(channelCount: channelCount, frameCapacity: 2048)
        self.channelCount = channelCount
    }

    /// Discards the waiting units after the remote peer has started again.
    mutating func restart() {
        reorderBuffer.removeAll()
        decoder.reset()
        nextPosition = nil
        startsStream = true
    }

    /// The time at which the first waiting unit has waited long enough; nil if no unit waits.
    var deadline: HostTime? { reorderBuffer.first?.arrival.advanced(bySeconds: holdTime) }

    /// Receives an access unit, and decodes it at once if no earlier one is missing.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, position: Int, at now: HostTime, into playout: PacketQueue) {
        if let next = nextPosition, abs(position - next) > Self.foreignDistance { restart() }
        guard let next = nextPosition else {
            play(bytes, position: position, at: now, into: playout)
            return
        }
        if position < next {
            lateUnits += 1
        } else if position == next {
            play(bytes, position: position, at: now, into: playout)
            playInOrder(at: now, into: playout)
        } else {
            reorderBuffer.append(Unit(position: position, arrival: now, bytes: Array(bytes)))
            reorderBuffer.sort { $0.position < $1.position }
            if reorderBuffer.count > reorderCapacity { skipAhead(at: now, into: playout) }
        }
    }

    /// Decodes the waiting units, without the missing one before them, if the first has waited long enough.
    mutating func tick(at now: HostTime, into playout: PacketQueue) {
        if let deadline, deadline <= now { skipAhead(at: now, into: playout) }
    }

    private mutating func skipAhead(at now: HostTime, into playout: PacketQueue) {
        if let next = nextPosition, let first = reorderBuffer.first {
            sequence += (first.position - next + Self.unitFrames / 2) / Self.unitFrames
            if first.position - next >= Self.forgottenDistance { decoder.reset() }
            nextPosition = first.position
        }
        playInOrder(at: now, into: playout)
    }

    private mutating func playInOrder(at now: HostTime, into playout: PacketQueue) {
        while let unit = reorderBuffer.first, let next = nextPosition, unit.position <= next {
            reorderBuffer.removeFirst()
            guard unit.position == next else { continue }
            unit.bytes.withUnsafeBytes { play($0, position: unit.position, at: now, into: playout) }
        }
    }

    private mutating func play(
        _ bytes: UnsafeRawBufferPointer, position: Int, at now: HostTime, into playout: PacketQueue
    ) {
        sequence += 1
        nextPosition = position + Self.unitFrames
        guard let frames = try? decoder.decode(bytes, into: output.channels), frames > 0 else {
            corruptUnits += 1
            return
        }
        let header = PacketHeader(
            sequence: sequence, position: position, frameCount: frames, byteCount: frames * channelCount * 4,
            arrival: now, startsStream: startsStream)
        startsStream = false
        let channels = output.channels
        let isQueued = playout.push(header) { slot in
            for c in 0..<channelCount {
                slot.advanced(by: c * frames * 4).copyMemory(from: channels[c], byteCount: frames * 4)
            }
        }
        if !isQueued { rejectedUnits += 1 }
    }
}
