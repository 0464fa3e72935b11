// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport
import EarshotPlayout

/// Decodes AAC ahead of its time, in order, on the media thread: the decoder may allocate, and each of its frames overlaps
/// the one before, so a frame that overtook another waits a little for it.
struct AACReceiver {
    /// Access units that came when decoding had passed them, or did not decode.
    private(set) var lateUnits = 0
    private(set) var corruptUnits = 0
    /// Units that found the queue to playout full.
    private(set) var rejectedUnits = 0

    private struct Unit {
        var position: Int
        var arrival: HostTime
        var bytes: [UInt8]
    }

    private let decoder: AACDecoder
    private let output: AudioBuffer
    private let channelCount: Int
    private var held: [Unit] = []
    private var nextPosition: Int?
    private var sequence = 0
    private var startsStream = true
    private static let unitFrames = 1024
    private let holdTime: Double
    private let mostHeld: Int
    /// Frames from which on a jump of the timeline is a new beginning.
    private static let foreignDistance = 96_000

    /// - Parameter holdTime: seconds that a unit waits for an earlier one. Units come 23 ms apart, so reordering stays within a
    ///   queue's length; in live playout each millisecond more adds one of concealment to each loss.
    init(audioSpecificConfig: [UInt8], channelCount: Int, holdTime: Double = 0.001) throws(CodecError) {
        self.holdTime = holdTime
        mostHeld = 3 + Int(holdTime * 48_000) / Self.unitFrames
        decoder = try AACDecoder(audioSpecificConfig: audioSpecificConfig)
        output = AudioBuffer(channelCount: channelCount, frameCapacity: 2048)
        self.channelCount = channelCount
    }

    /// The remote peer started anew: what is held belongs to what was before.
    mutating func restart() {
        held.removeAll()
        decoder.reset()
        nextPosition = nil
        startsStream = true
    }

    /// The time at which a held unit has waited long enough.
    var deadline: HostTime? { held.first?.arrival.advanced(bySeconds: holdTime) }

    /// Takes one access unit.
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
            playHeld(at: now, into: playout)
        } else {
            held.append(Unit(position: position, arrival: now, bytes: Array(bytes)))
            held.sort { $0.position < $1.position }
            if held.count > mostHeld { skipAhead(at: now, into: playout) }
        }
    }

    /// Ends the wait after the deadline.
    mutating func tick(at now: HostTime, into playout: PacketQueue) {
        if let deadline, deadline <= now { skipAhead(at: now, into: playout) }
    }

    private mutating func skipAhead(at now: HostTime, into playout: PacketQueue) {
        if let next = nextPosition, let first = held.first {
            sequence += (first.position - next + Self.unitFrames / 2) / Self.unitFrames
            nextPosition = first.position
        }
        playHeld(at: now, into: playout)
    }

    private mutating func playHeld(at now: HostTime, into playout: PacketQueue) {
        while let unit = held.first, let next = nextPosition, unit.position <= next {
            held.removeFirst()
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
