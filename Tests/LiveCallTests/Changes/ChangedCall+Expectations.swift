// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

@testable import EarshotCall
@testable import EarshotLiveCall
@testable import EarshotRooms

/// The effects of commands on the expected sound.
extension ChangedCall {
    /// Adds the command's effect to the expected gains.
    func expect(_ command: LiveCallCommand, by peer: ChangedPeer) {
        func person(_ id: MemberID) -> Int? { present.first { $0.id == id }?.person }
        switch command {
        case .setVolume(let volume, let id):
            if let speaker = person(id) { gains.volumes[peer.person][speaker] = volume }
        case .setHeard(let isHeard, let id):
            if let speaker = person(id) { gains.isHeard[peer.person][speaker] = isHeard }
        case .setOutputVolume(let volume): gains.outputVolumes[peer.person] = volume
        case .setMuted(let isMuted): gains.isMuted[peer.person] = isMuted
        case .setPushToTalk(let isOn): gains.setPushToTalk(isOn, of: peer.person)
        case .setVoiceProcessing(let mode): expectProcessing(mode != .off, of: peer)
        case .setMonitor(let mode): gains.isMonitored[peer.person] = mode == .on  // the route is a loudspeaker
        case .setEffects(let texts):
            gains.decibels[peer.person] = Self.effects.first { $0.texts == texts }?.decibels ?? 0
            expectShift(\.shifts, of: peer.person)
        case .setEffectParameter(_, _, let text): gains.decibels[peer.person] = Double(text) ?? 0
        case .setAccompaniment(let files):
            let old = gains.songs[peer.person] ?? ExpectedGains.Song()
            gains.songs[peer.person] =
                files.isEmpty ? nil : ExpectedGains.Song(isPlaying: false, gain: old.gain, isForAll: old.isForAll)
        case .controlAccompaniment(let control): expect(control, of: peer.person)
        default: break
        }
        gains.update(at: now)
    }

    private func expect(_ control: AccompanimentControl, of person: Int) {
        switch control {
        case .play: gains.songs[person]?.isPlaying = true
        case .pause: gains.songs[person]?.isPlaying = false
        case .setGain(let gain): gains.songs[person]?.gain = gain
        case .setForAll(let isForAll): gains.songs[person]?.isForAll = isForAll
        case .seek, .next, .previous: expectShift(\.songShifts, of: person)
        }
    }

    /// The sound jumps in time, so that a tone has no level for a moment.
    private func expectShift(_ shifts: WritableKeyPath<ExpectedGains, [Int]>, of person: Int) {
        gains[keyPath: shifts][person] += 1
        after(ExpectedGains.shiftEnd) { [unowned self] in
            gains[keyPath: shifts][person] -= 1
            gains.update(at: now)
        }
    }

    /// Voice processing may change the level of a tone, and ends after its delay.
    private func expectProcessing(_ isOn: Bool, of peer: ChangedPeer) {
        if isOn { gains.isProcessed[peer.person] = true }
        after(ExpectedGains.processingEnd) { [unowned self, unowned peer] in
            guard peers[peer.person] === peer, peer.core.snapshot.voiceProcessingMode == .off else { return }
            gains.isProcessed[peer.person] = false
            gains.update(at: now)
        }
    }
}
