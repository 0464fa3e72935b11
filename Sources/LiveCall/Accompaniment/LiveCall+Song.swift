// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotCall
import EarshotDuet

/// A song that is played at ordered instants, for the local participant only. Any thread except a render thread.
extension LiveCall {
    /// The reason that a song cannot be opened.
    package enum SongError: Error {
        /// The call has no sound.
        case noSound
        case file(AudioFileError)
        /// The thread cannot be started; an errno.
        case system(code: Int32)
    }

    /// Opens a song or a beat, silent until it is ordered to play. It replaces an earlier one. A recording of the call gets a take of
    /// the local voice until ``closeSong()``.
    /// - Parameters:
    ///   - song: the song of the sound, which counts a file in, and which takes name; nil for another sound, such as a mix.
    ///   - handle: is called when the song ends or fails, on the song's thread or in ``closeSong()``.
    package func openSong(
        _ sound: DuetSound, of song: DuetSong? = nil, _ handle: @escaping @Sendable (SongState) -> Void = { _ in }
    ) throws(SongError) -> SongPlayer {
        guard let media else { throw .noSound }
        let (channelCount, rate) = (media.channelCount, media.voiceFormat.sampleRate)
        let player: SongPlayer
        switch sound {
        case .file(let path):
            do throws(AudioFileError) {
                player = try SongPlayer(
                    path: path, countIn: song?.countIn, duration: song?.duration, channelCount: channelCount,
                    deviceRate: rate, hash: song?.hash, handle)
            } catch { throw .file(error) }
        case .beat(let beat):
            player = SongPlayer(
                beat.countIn, duration: beat.duration, channelCount: channelCount, deviceRate: rate, hash: beat.hash,
                handle)
        }
        let code = player.start()
        guard code == 0 else { throw .system(code: code) }
        closeSong()
        media.setScheduledSong(CallInsert(callback: player.memory.callback, owner: player.memory))
        self.song.withLock { song in
            song = player
            recorder.withLock { $0?.setTake(player.makeLog()) }
        }
        return player
    }

    /// Ends the song, if there is one, and its take.
    package func closeSong() {
        let player = song.withLock { song in
            defer { song = nil }
            return song
        }
        guard let player else { return }
        media?.setScheduledSong(nil)
        player.stop()
        // The last blocks belong to the take.
        _ = player.work()
        recorder.withLock { $0?.setTake(nil) }
    }
}
