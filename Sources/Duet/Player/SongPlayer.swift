// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles

/// Plays a song at ordered instants, for the local participant only. The player's thread reads and converts the file, and reads the
/// played blocks. The thread may wait for the disk. Members are for any thread except a render thread.
package final class SongPlayer: @unchecked Sendable {  // only the thread uses `deck`
    /// The memory of ``SongMemory/callback``, which must live as long as the callback may be called.
    package let memory: SongMemory
    /// The rate of the song's positions in hertz.
    package let sampleRate: Double
    /// The frames of the song, by the file's header.
    package let frameCount: Int

    private let hash: String?
    private let orders = LockedValue<[SongDeck.Order]>([])
    private let nextLog = LockedValue<SongLog?>(nil)
    private let published: LockedValue<SongState>
    private let handle: @Sendable (SongState) -> Void
    private let thread = LockedValue<ServiceThread?>(nil)
    private var deck: SongDeck

    /// The milliseconds between two turns of the thread. The ring holds 0.5 s or more, the queue of played blocks 11 s.
    private static let interval = 50
    /// The milliseconds until the next turn while the render thread must make room in the ring first.
    private static let shortInterval = 10

    /// Opens a song. It plays after ``play(from:at:)``.
    /// - Parameters:
    ///   - countIn: the beat whose last bar before the song is heard if the song plays from a negative position; nil for none.
    ///   - duration: the seconds that are played at most, such as those of a song whose mix is longer; nil for all.
    ///   - channelCount: the channels of the call.
    ///   - deviceRate: the call's rate in hertz.
    ///   - hash: the SHA-256 of the file, which the takes of the song name; nil if unknown.
    ///   - handle: is called when the song ends, or the song or its guide vocal fails, on the thread that does the work.
    /// - Throws: the errors of opening; ``AudioFileError/notAudio(path:reason:)`` for a file without a frame.
    package convenience init(
        path: String, countIn: Beat? = nil, duration: Double? = nil, channelCount: Int, deviceRate: Double,
        hash: String? = nil, _ handle: @escaping @Sendable (SongState) -> Void = { _ in }
    ) throws(AudioFileError) {
        let file = try DamageTolerantReader(path: path)
        guard file.frameCount > 0 else { throw .notAudio(path: path, reason: "it contains no sound") }
        let limit = duration.map { Int(($0 * file.processingFormat.sampleRate).rounded()) }
        self.init(
            file, countIn: countIn, limit: limit, channelCount: channelCount, deviceRate: deviceRate, hash: hash, handle
        )
    }

    /// Makes a beat of so many seconds in place of a song, which also counts itself in.
    package convenience init(
        _ beat: Beat, duration: Double, channelCount: Int, deviceRate: Double, hash: String? = nil,
        _ handle: @escaping @Sendable (SongState) -> Void = { _ in }
    ) {
        self.init(
            BeatReader(beat, duration: duration), countIn: beat, channelCount: channelCount, deviceRate: deviceRate,
            hash: hash, handle)
    }

    private init(
        _ file: any SoundFileReader, countIn: Beat?, limit: Int? = nil, channelCount: Int, deviceRate: Double,
        hash: String?,
        _ handle: @escaping @Sendable (SongState) -> Void
    ) {
        memory = SongMemory(channelCount: channelCount, sampleRate: deviceRate, capacity: Int(deviceRate))
        deck = SongDeck(file, countIn: countIn, limit: limit, memory)
        (sampleRate, frameCount) = (deck.source.sampleRate, deck.source.frameCount)
        published = LockedValue(SongState())
        (self.handle, self.hash) = (handle, hash)
    }

    deinit { stop() }

    /// Starts the thread. Returns 0 or an errno.
    package func start() -> Int32 {
        let thread = ServiceThread(name: "song", pacing: { [weak self] in self?.work() })
        self.thread.withLock { $0 = thread }
        return thread.start()
    }

    /// Stops the thread and waits for it: at most for a read from the disk.
    package func stop() {
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.stop()
    }

    /// The state at the last turn of the thread.
    package var state: SongState { published.withLock { $0 } }

    /// Plays from a position on, clamped to the song and its count-in, which leaves the loudspeaker at a host time.
    package func play(from position: SongPosition, at time: HostTime) { give(.play(position, time)) }

    /// Moves the start of the last order to play. Has no effect if the song plays by then.
    package func moveStart(to time: HostTime) { give(.moveStart(time)) }

    /// Pauses the song at a host time.
    package func pause(at time: HostTime) { give(.pause(time)) }

    /// Continues where the song was paused.
    package func resume(at time: HostTime) { give(.resume(time)) }

    /// Continues at another position from a host time on; a paused song stays paused.
    package func seek(to position: SongPosition, at time: HostTime) { give(.seek(position, time)) }

    /// Makes the song faster by a part of its rate, clamped to ±0.1 %, without a jump.
    package func setCorrection(_ correction: Double) { give(.correct(correction)) }

    /// Silences the song in its place, or plays it again, with a fade. For one thread.
    package func setAudible(_ isAudible: Bool) { memory.isAudible.writer.store(isAudible) }

    /// Mixes a guide vocal into the song, for the local participant only. Its frame 0 is the song's.
    package func setGuide(path: String) { give(.guide(path)) }

    /// Sets the gain of the guide vocal, 0 before. It is heard up to 0.7 s later, since the song is converted ahead.
    package func setGuideGain(_ gain: Float) { give(.guideGain(gain)) }

    /// Returns a new record of what is played from now on. An earlier one ends.
    package func makeLog() -> SongLog {
        let log = SongLog(songSampleRate: sampleRate, songHash: hash)
        nextLog.withLock { $0 = log }
        thread.withLock { $0?.handle.wake() }
        return log
    }

    private func give(_ order: SongDeck.Order) {
        orders.withLock { $0.append(order) }
        thread.withLock { $0?.handle.wake() }
    }

    /// Does the work of a turn. Returns the time until the next one.
    package func work() -> ServiceThread.Pause {
        let newOrders = orders.withLock { orders in
            defer { orders = [] }
            return orders
        }
        let newLog = nextLog.withLock { log in
            defer { log = nil }
            return log
        }
        if let newLog { deck.begin(newLog) }
        let old = deck.state
        // An order may need the present state, so the played blocks come first.
        deck.readPlayed()
        for order in newOrders { deck.apply(order) }
        let isFilled = deck.fill()
        let new = deck.state
        published.withLock { $0 = new }
        if new.hasEnded && !old.hasEnded || new.failure != old.failure || new.guideFailure != old.guideFailure {
            handle(new)
        }
        return .milliseconds(isFilled ? Self.interval : Self.shortInterval)
    }
}

/// The state of a ``SongPlayer``.
package struct SongState: Sendable {
    /// The position that leaves the loudspeaker at ``hostTime``.
    package var position = SongPosition(units: 0)
    package var hostTime = HostTime(nanoseconds: 0)
    /// The position that follows the converted sound, and the time at which it leaves the loudspeaker.
    package var end = (position: SongPosition(units: 0), hostTime: HostTime(nanoseconds: 0))
    /// The device's frames per second of host time as a part of its nominal rate, less 1.
    package var deviceRate = 0.0
    /// True while the song is heard.
    package var isPlaying = false
    /// True from the song's end until it plays again.
    package var hasEnded = false
    /// The frames of the device that lacked frames of the song.
    package var missingFrameCount = 0
    /// The error that ended the song; nil if there is none.
    package var failure: AudioFileError?
    /// The error that ended the guide vocal; nil if there is none. The song goes on.
    package var guideFailure: AudioFileError?

    package init() {}
}
