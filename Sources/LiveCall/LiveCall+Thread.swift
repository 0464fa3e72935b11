// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotMediaTransport
import EarshotRooms

/// The work of the call's thread.
extension LiveCall {
    /// Executes the actions for media, then observes media and device.
    func work() {
        for action in state.withLock({ state in
            defer { state.mediaActions = [] }
            return state.mediaActions
        }) { execute(action) }
        observe()
    }

    private func execute(_ action: LiveCallCore.MediaAction) {
        switch action {
        case .start: startSound()
        case .stop:
            finishAccompaniment()
            closeSong()
            media?.stop()
            let recorder = finishRecording()
            soundEnd.finish()
            recorder?.tagFiles()
        case .setMuted: break  // already done when the command was performed
        case .accompany(let order, let number): accompany(order, number: number)
        case .setGain(let gain, let id): media?.setLastingGain(gain, of: PeerID(Int(id.number)))
        case .setOutputVolume(let volume): media?.setOutputVolume(volume)
        case .setLatencyProfile(let profile): media?.setLatencyProfile(profile)
        case .setVoiceProcessing(let isOn): media?.voice?.setProcessing(isOn)
        case .setMonitor(let isOn, let delay): media?.setMonitored(isOn, delay: delay)
        case .setEffects(let effects):
            media?.setEffects(effects?.insert)
            // The previous effects are released outside the lock.
            _ = self.effects.withLock { present in
                defer { present = effects }
                return present
            }
        case .setEffectParameter(let parameter, let effect, let value):
            effects.withLock { $0?.setParameter(parameter, ofEffect: effect, to: value) }
        case .startRecording(let folder): startRecording(folder: folder)
        case .stopRecording: stopRecording()
        }
    }

    private func startSound() {
        guard let media, let device else { return }
        do { try device.prepare() } catch { return handle(.soundFailed(.notPrepared)) }
        do throws(AudioDeviceError) { try media.start() } catch { return handle(.soundFailed(.device(error))) }
        handle(.soundStarted(device.description))
    }

    private func observe() {
        let snapshot = snapshot
        guard snapshot.ending == nil else { return }
        var observation = LiveCallCore.Observation()
        var levels = LiveCallLevels()
        if let media {
            levels.own = media.levels
            for participant in snapshot.participants {
                guard let statistics = media.statistics(of: PeerID(Int(participant.id.number))) else { continue }
                levels.participants[participant.id] = statistics
                observation.calls[participant.id] = .init(
                    format: statistics.configuration, rate: statistics.media.rate,
                    missingCodecs: statistics.missingCodecs, mouthToEar: statistics.mouthToEar)
            }
            if case .running = snapshot.sound, let device { observe(media, device, &observation, levels) }
        }
        record(levels, snapshot)
        state.withLock { updateRecording($0, at: .now()) }
        workOnDuet(snapshot, levels, at: .now())
        listenToRoom(snapshot)
        observation.nearbySingers = shareLoudspeaker(snapshot)
        handle(.observation(observation))
    }

    private func observe(
        _ media: any LiveCallMedia, _ device: any LiveCallDevice, _ observation: inout LiveCallCore.Observation,
        _ levels: LiveCallLevels
    ) {
        device.update()
        media.followDevice()
        observation.failure = media.failure
        observation.microphone = levels.own.microphone
        observation.feedback = levels.own.feedback
        observation.device = device.description
        observation.hardwareBlockFrameCount = device.hardwareBlockFrameCount
        observation.interruption = device.interruption
        observation.voiceLatency = media.voiceLatency
        if let voice = media.voice, voice.canProcess {
            observation.voice = .init(
                processing: voice.processing, channelCount: media.channelCount,
                maximumBlockFrameCount: voice.blockFrameCount, latency: voice.processingLatency)
        }
    }

    private func record(_ levels: LiveCallLevels, _ snapshot: LiveCallSnapshot) {
        let now = HostTime.now()
        let reports = levels.participants.keys.reduce(into: [MemberID: MediaPortReport]()) {
            $0[$1] = room.report(of: $1)
        }
        state.withLock { state in
            state.levels = levels
            for participant in snapshot.participants {
                guard let statistics = levels.participants[participant.id] else { continue }
                var record =
                    state.records[participant.id] ?? ParticipantRecord(participant: participant, statistics: statistics)
                record.participant = participant
                record.statistics = statistics
                let report = reports[participant.id]
                record.transport = report ?? record.transport
                record.pair = report?.pair ?? record.pair
                if record.heardSince == nil, statistics.playout.isStarted { record.heardSince = now }
                record.heardSeconds = record.heardSince.map { now.seconds(since: $0) } ?? 0
                state.records[participant.id] = record
            }
        }
    }
}
