// SPDX-License-Identifier: Apache-2.0

import EarshotDuet
import EarshotRooms

/// The guide vocal of a song. It is mixed in while the song is decoded, so each singer has a level of one's own, and no take has it.
extension LiveCall {
    /// Looks for the guide vocal's file in the folder of songs. Otherwise the host sends it.
    func findGuide(of song: DuetSong) {
        guard let guide = song.guide, duet.withLock({ $0.guide?.hash }) != guide.hash else { return }
        Task.detached { [self] in
            let files = SongFile.files(in: configuration.songFolder)
            if let path = SongFile.find(hash: guide.hash, byteCount: guide.byteCount, among: files) {
                setGuide(guide, path)
            }
        }
    }

    /// Notes that a guide vocal's file is here, and mixes it into its song, which may play already.
    func setGuide(_ guide: DuetGuide, _ path: String) {
        duet.withLock { duet in
            guard duet.core?.song?.guide == guide else { return }
            duet.guide = (guide.hash, path)
            duet.core?.setPresentGuide(guide.hash)
            if duet.playsSong, let player = duet.player { duet.addGuide(to: player) }
        }
    }

    func sendGuide(to member: MemberID) {
        guard let path = duet.withLock({ $0.guide?.path }) else { return }
        sendSongFile(path, to: member) { $0.guideTransferEnded(to: member, at: .now()) }
    }
}

extension LiveDuet {
    /// True if the player has the song, with or without earlier voices, and not the mix of the attempt.
    var playsSong: Bool { playedMix == nil || playedMix == keptMix }

    /// Mixes the song's guide vocal into the sound of a player, if its file is here.
    func addGuide(to player: SongPlayer) {
        guard let guide, guide.hash == core?.song?.guide?.hash else { return }
        player.setGuideGain(guideGain)
        player.setGuide(path: guide.path)
    }

    /// Sets the level at which the local singer hears guide vocals, clamped to 0…1.
    mutating func setGuideGain(_ gain: Float) throws(DuetRefusal) {
        guard let song = core?.song else { throw .noSong }
        guard song.guide != nil else { throw .noGuide }
        guideGain = max(0, min(1, gain))
        if playsSong { player?.setGuideGain(guideGain) }
    }
}
