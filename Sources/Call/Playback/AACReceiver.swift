// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport
import EarshotPlayout

/// Decodes AAC ahead of playout, in order, on the media thread: the decoder may allocate, and each frame overlaps the previous
/// one, so a frame waits briefly for an earlier one that was overtaken.
struct AACReceiver {
    /// The access units that arrived after later ones were decoded, or could not be decoded.
    private(set) var lateUnits = 0
    private(set) var corruptUnits = 0
    /// The units rejected because the playout's queue was full.
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
    private let maximumHeld: Int
    /// The frames from which a jump of the timeline counts as a new beginning.
    private static let foreignDistance = 96_000

    /// - Parameter holdTime: the seconds for which a unit waits for an earlier one. Units are 23 ms apart, so they are reordered
    ///   only within a queue; in live playout each millisecond adds one of concealment to each loss.
    init(audioSpecificConfig: [UInt8], channelCount: Int, holdTime: Double = 0.001) throws(CodecError) {
        self.holdTime = holdTime
        maximumHeld = 3 + Int(holdTime * 48_000) / Self.unitFrames
        decoder = try AACDecoder(audioSpecificConfig: audioSpecificConfig)
        output = AudioBuffer(channelCount: channelCount, frameCapacity: 2048)
        self.channelCount = channelCount
    }

    /// Discards held units after the remote peer started again.
    mutating func restart() {
        held.removeAll()
        decoder.reset()
        nextPosition = nil
        startsStream = true
    }

    /// The time at which a held unit has waited long enough.
    var deadline: HostTime? { held.first?.arrival.advanced(bySeconds: holdTime) }

    /// Receives an access unit.
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
            if held.count > maximumHeld { skipAhead(at: now, into: playout) }
        }
    }

    /// Ends waits that are over.
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
