// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension CallSession {
    /// Returns the song that is played with the call. The first call of this function creates it, silent. The song is added
    /// between ``playbackInsert`` and ``outputVolume``; if it is for all, also to the sent voice, after ``isMuted``.
    package func startAccompaniment() -> CallAccompaniment? {
        let song = song.withLock { song in
            let started =
                song
                ?? CallAccompaniment(
                    channelCount: preferences.channelCount, sampleRate: preferences.deviceRate,
                    hasSeparateMicrophone: microphone != nil)
            song = started
            return started
        }
        processor.songInserts.playback.set(song.playbackInsert)
        processor.songInserts.capture.set(song.captureInsert)
        followVoicePath()
        return song
    }

    /// Sets the song that is played at ordered instants, for the local participant only; nil for none. Any thread except a render
    /// thread.
    package func setScheduledSong(_ song: CallInsert?) { processor.scheduledSong.set(song) }

    /// Delays the sent song by the latency of the voice path, so that all participants hear the voice in time with the song.
    func followVoicePath() {
        song.withLock { $0 }?.setVoiceLatency(voiceLatency)
    }
}
