// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles

/// Does the work of a song's thread: passes on orders, fills the ring, and reads the played blocks. For one thread; reads no clock.
struct SongDeck: ~Copyable {
    /// An order of the player.
    enum Order: Sendable {
        case play(SongPosition, HostTime)
        case moveStart(HostTime)
        case pause(HostTime)
        case resume(HostTime)
        case seek(SongPosition, HostTime)
        case correct(Double)
        /// The path of the guide vocal.
        case guide(String)
        case guideGain(Float)
    }

    private(set) var source: SongSource
    private(set) var state = SongState()
    private let memory: SongMemory
    /// The orders that wait for room in the render thread's queue.
    private var waitingOrders: [SongOrder] = []
    /// True after an order to play, false after one to pause.
    private var isWanted = false
    /// The pieces of the ring that are not played yet.
    private var ring = SongMap()
    private var log: SongLog?
    /// Follows the blocks, also silent ones, so the device's rate is known before a song begins.
    private var loop: DelayLockedLoop
    /// The ring frame that is due next.
    private var dueFrame = 0

    /// - Parameter file: owned by the deck from now on.
    init(_ file: any SoundFileReader, countIn: Beat?, limit: Int? = nil, _ memory: SongMemory) {
        source = SongSource(file, countIn: countIn, limit: limit, into: memory)
        self.memory = memory
        loop = DelayLockedLoop(sampleRate: memory.sampleRate)
    }

    mutating func apply(_ order: Order) {
        switch order {
        case .play(let position, let time):
            isWanted = true
            jump(to: position, at: time)
        case .moveStart(let time):
            // A resume gives the jump that waits its time. A song that plays already goes on.
            if isWanted, state.failure == nil { waitingOrders.append(.resume(at: time)) }
        case .seek(let position, let time): jump(to: position, at: time)
        case .pause(let time):
            isWanted = false
            waitingOrders.append(.stop(at: time))
        case .resume(let time):
            isWanted = true
            waitingOrders.append(.resume(at: time))
        case .correct(let correction): source.setCorrection(correction)
        case .guide(let path):
            do throws(AudioFileError) {
                source.setGuide(try DamageTolerantReader(path: path))
                state.guideFailure = nil
            } catch { state.guideFailure = error }
        case .guideGain(let gain): source.guideGain = gain
        }
    }

    private mutating func jump(to position: SongPosition, at time: HostTime) {
        do throws(AudioFileError) {
            let ringFrame = try source.seek(to: position)
            (state.hasEnded, state.failure) = (false, nil)
            waitingOrders.append(SongOrder(ringFrame: ringFrame, isPlaying: isWanted, hostTime: time))
        } catch { state.failure = error }
    }

    /// Passes on the orders, fills the ring, and notes the map of its new frames. Returns false if the ring or the queue of orders
    /// has no room yet.
    mutating func fill() -> Bool {
        while let order = waitingOrders.first, memory.orders.writer.push(order) { waitingOrders.removeFirst() }
        var isFilled = true
        do throws(AudioFileError) { isFilled = try source.fill(dueFrame: dueFrame) } catch { state.failure = error }
        state.guideFailure = state.guideFailure ?? source.guideFailure
        for piece in source.takePieces() {
            ring.append(piece)
            log?.append(.ring(piece))
        }
        return isFilled && waitingOrders.isEmpty
    }

    /// Reads what was played since the last turn.
    mutating func readPlayed() {
        while let part = memory.played.pop() {
            log?.append(.played(part))
            if part.offset == 0 { _ = loop.update(sampleTime: part.block.sampleTime, now: part.block.hostTime) }
            dueFrame = part.dueFrame ?? dueFrame
            state.isPlaying = part.silence == nil
            switch part.silence {
            case nil: note(part)
            case .underrun?: state.missingFrameCount += part.frameCount
            default:
                // The render thread stops at the song's end without an order.
                if isWanted, source.hasEnded, part.ringFrame >= source.writtenCount, waitingOrders.isEmpty {
                    state.hasEnded = true
                }
            }
        }
        state.deviceRate = loop.driftPPM * 1e-6
    }

    private mutating func note(_ part: PlayedBlock) {
        let end = Int64(part.ringFrame + part.frameCount)
        ring.removeAll(before: end - 1)
        guard let piece = ring.pieces.first else { return }
        state.position = piece.position(at: end)
        let frames = part.offset + part.frameCount
        state.hostTime = part.block.hostTime.advanced(
            bySeconds: Double(frames) * loop.secondsPerFrame + part.block.latency)
        if let last = ring.pieces.last {
            let ahead = Double(last.end - end) * loop.secondsPerFrame
            state.end = (last.endPosition, state.hostTime.advanced(bySeconds: ahead))
        }
        if source.hasEnded, end >= Int64(source.writtenCount) { state.hasEnded = true }
    }

    /// Begins a record, with the map of the frames that are in the ring.
    mutating func begin(_ new: SongLog) {
        log = new
        for piece in ring.pieces { new.append(.ring(piece)) }
    }
}
