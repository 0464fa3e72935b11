// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport
import Foundation

/// Writes a call's recording to a folder: a file for each participant, the mix, and `recording.json`.
///
/// All files begin at frame 0, which was rendered at the beginning of the recording. They line up as the local participant heard
/// the call: a remote voice is moved by the delay of the recording beyond that of live playback, the local voice by the latency of
/// the device. For one thread at a time; it waits for the disk.
final class CallRecordingWriter {
    /// The maximum number of remote participants; later ones are not recorded.
    static let maximumParticipantCount = 64
    /// The maximum seconds of a gap that are written to a file in a turn.
    private static let gapInTurn = 10.0
    /// The seconds by which the latency must change to move the local voice. Devices measure it anew all the time.
    private static let latencyTolerance = 0.005

    let folder: String
    var state: RecordedCallState
    var manifest: RecordingManifest
    /// The manifest without lengths as it was written last, and the time of that.
    var writtenManifest: (manifest: RecordingManifest, time: HostTime)?
    let localVoice: RecordedVoice
    let rawVoice: RecordedVoice?
    private(set) var voices: [RecordedVoice] = []
    private(set) var mix: RecordingMix
    /// The take of the song that is played; nil without a song.
    var take: TakeRecorder?
    /// The names of the takes' maps.
    var takeFiles: [String] = []

    private let recording: CallRecording
    private let settings: CallRecordingSettings
    private let format: AudioFormat
    private var voicesByPeer: [PeerID: RecordedVoice] = [:]
    /// The participants that cannot be recorded.
    private var failedPeers: Set<PeerID> = []
    private var fileNames: Set<String> = ["mix", "recording"]
    private var newErrors: [CallRecordingError] = []
    private var reportedErrors: [CallRecordingError] = []
    /// The playing device's frame that is frame 0, and its time; nil before the first cycle.
    private var zero: (sampleTime: Int64, hostTime: HostTime)?
    /// The frame of the timeline up to which the voices were read, and its time.
    private var position = 0
    private var positionTime = HostTime(nanoseconds: 0)

    /// Creates the files of the local voice and the mix.
    /// - Parameters:
    ///   - folder: an existing folder.
    ///   - state: the local participant; pass remote ones to ``update(_:at:)``.
    ///   - room: the room's name.
    init(
        _ recording: CallRecording, folder: String, _ settings: CallRecordingSettings, state: RecordedCallState,
        room: String
    ) throws(AudioFileError) {
        self.recording = recording
        self.settings = settings
        self.folder = folder
        self.state = state
        let format = AudioFormat(sampleRate: recording.sampleRate, channelCount: recording.channelCount)
        self.format = format
        manifest = RecordingManifest(
            earshot: settings.program, room: room, started: "", zero: 0, sampleRate: Int(format.sampleRate),
            channelCount: format.channelCount, recordedBy: state.name)
        func makeMicrophone() -> SeparateMicrophone? {
            state.hasSeparateMicrophone
                ? SeparateMicrophone(sampleRate: format.sampleRate, channelCount: format.channelCount) : nil
        }
        let name = RecordingFolder.fileName(for: state.name, besides: &fileNames)
        localVoice = RecordedVoice(
            try Self.makeTrack(name, in: folder, format, settings), format: format, key: state.key, name: state.name,
            isLocal: true, microphone: makeMicrophone())
        if settings.recordsRawVoice {
            let rawName = RecordingFolder.fileName(for: "\(name) raw", besides: &fileNames)
            rawVoice = RecordedVoice(
                try Self.makeTrack(rawName, in: folder, format, settings), format: format, key: state.key,
                name: state.name, kind: .raw, isLocal: true, microphone: makeMicrophone())
        } else {
            rawVoice = nil
        }
        mix = RecordingMix(try Self.makeTrack("mix", in: folder, format, settings), format: format)
        localVoice.shift = frames(state.deviceLatency + state.processingLatency)
        rawVoice?.shift = frames(state.deviceLatency)
    }

    private static func makeTrack(
        _ name: String, in folder: String, _ format: AudioFormat, _ settings: CallRecordingSettings
    ) throws(AudioFileError) -> RecordingTrack {
        try RecordingTrack(path: "\(folder)/\(name).\(settings.type.fileExtension)", format: format, settings)
    }

    private func frames(_ seconds: Double) -> Int { Int((seconds * format.sampleRate).rounded()) }

    // MARK: Participants

    /// Notes who is in the room, who allows the recording, and how loud each is.
    /// - Parameter time: the time from which on it holds.
    func update(_ state: RecordedCallState, at time: HostTime) {
        self.state = state
        let frame = zero == nil ? 0 : max(0, position + frames(time.seconds(since: positionTime)))
        move(localVoice, to: state.deviceLatency + state.processingLatency)
        if let rawVoice { move(rawVoice, to: state.deviceLatency) }
        for voice in [localVoice, rawVoice].compactMap({ $0 }) {
            voice.update(name: state.name, silenceReason: nil, volume: 1, at: frame)
        }
        var updated: Set<ObjectIdentifier> = []
        for participant in state.participants {
            guard let voice = voice(of: participant) else { continue }
            updated.insert(ObjectIdentifier(voice))
            if voice.shift == nil, let depth = participant.liveDepth { voice.shift = frames(recording.depth - depth) }
            voice.update(
                name: participant.name, silenceReason: participant.silenceReason, volume: participant.volume,
                at: frame)
        }
        for voice in voices where !updated.contains(ObjectIdentifier(voice)) {
            voice.update(
                name: voice.name, silenceReason: .away, volume: voice.volumes.last?.gain ?? 1, at: frame)
        }
    }

    /// Moves a local voice to a new latency. During a change of the device the latency is unknown, and 0.
    private func move(_ voice: RecordedVoice, to latency: Double) {
        let shift = frames(latency)
        guard state.deviceLatency > 0, abs(shift - (voice.shift ?? 0)) > frames(Self.latencyTolerance) else { return }
        voice.shift = shift
    }

    /// Returns the voice of a participant, and creates it for a new one; nil if it cannot be recorded.
    private func voice(of participant: RecordedParticipant) -> RecordedVoice? {
        if let voice = voicesByPeer[participant.peer] { return voice }
        if let key = participant.key, let voice = voices.first(where: { $0.key == key }) {
            voicesByPeer[participant.peer] = voice
            return voice
        }
        guard !failedPeers.contains(participant.peer) else { return nil }
        guard voices.count < Self.maximumParticipantCount else {
            failedPeers.insert(participant.peer)
            note(.tooManyParticipants(limit: Self.maximumParticipantCount))
            return nil
        }
        let name = RecordingFolder.fileName(for: participant.name, besides: &fileNames)
        do throws(AudioFileError) {
            let voice = RecordedVoice(
                try Self.makeTrack(name, in: folder, format, settings), format: format, key: participant.key,
                name: participant.name)
            voices.append(voice)
            voicesByPeer[participant.peer] = voice
            return voice
        } catch {
            failedPeers.insert(participant.peer)
            note(.file(error))
            return nil
        }
    }

    // MARK: Errors

    /// Notes an error that was not reported yet.
    func note(_ error: CallRecordingError) {
        if !reportedErrors.contains(error), !newErrors.contains(error) { newErrors.append(error) }
    }

    /// Returns the errors since the last call, each once. After an error of a file the other files go on.
    func takeErrors() -> [CallRecordingError] {
        for track in allVoices.map(\.track) + [mix.track] {
            if let error = track.error { note(.file(error)) }
        }
        reportedErrors += newErrors
        defer { newErrors = [] }
        return newErrors
    }

    /// True if nothing can be written any more.
    var isOver: Bool { mix.track.error != nil && allVoices.allSatisfy { $0.track.error != nil } }

    /// All voices, the local ones first.
    var allVoices: [RecordedVoice] { [localVoice] + (rawVoice.map { [$0] } ?? []) + voices }

    // MARK: Reading and writing

    /// Writes the sound that arrived since.
    func writeArrivedSound(at now: HostTime) {
        read(until: now, tolerance: CallRecording.deviceTolerance, end: nil)
        // All voices are complete up to this frame.
        let end = position - max(frames(recording.depth), localVoice.shift ?? 0)
        mix.write(to: end)
        for voice in allVoices {
            voice.writeDueGap(before: end, limit: frames(Self.gapInTurn))
            voice.track.flush()
        }
        mix.track.flush()
        writeTake()
        writeManifest(at: now)
    }

    private func read(until now: HostTime, tolerance: Double, end: Int?) {
        // First, because after a stall the mix does not wait for the local voice while the others are read.
        readLocalVoices(end)
        while let cycle = recording.read(
            until: now, tolerance: tolerance,
            { [voicesByPeer] peer, sound, frameCount in voicesByPeer[peer]?.add(sound, frameCount: frameCount) })
        {
            let frame = Int(cycle.sampleTime - (zero ?? begin(cycle)).sampleTime)
            for voice in voices where voice.isFilled {
                guard let shift = voice.shift else {
                    voice.discardBlock()
                    continue
                }
                write(voice, cycle.frameCount, at: frame - shift, end)
            }
            position = frame + cycle.frameCount
            positionTime = cycle.hostTime.advanced(bySeconds: Double(cycle.frameCount) / format.sampleRate)
        }
        readLocalVoices(end)
    }

    private func readLocalVoices(_ end: Int?) {
        guard let zero else { return }
        readLocalVoice(.dry, localVoice, zero.sampleTime, end)
        if let rawVoice { readLocalVoice(.raw, rawVoice, zero.sampleTime, end) }
    }

    private func write(_ voice: RecordedVoice, _ frameCount: Int, at frame: Int, _ end: Int?) {
        voice.write(frameCount: frameCount, at: frame, end: end, limit: frames(Self.gapInTurn), to: &mix)
    }

    private func begin(_ cycle: CallCycle) -> (sampleTime: Int64, hostTime: HostTime) {
        let zero = (cycle.sampleTime, cycle.hostTime)
        self.zero = zero
        manifest.zero = Int64(clamping: cycle.hostTime.nanoseconds)
        let date = Date().addingTimeInterval(-HostTime.now().seconds(since: cycle.hostTime))
        manifest.started = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return zero
    }

    private func readLocalVoice(
        _ stage: CallRecording.LocalVoice, _ voice: RecordedVoice, _ zero: Int64, _ end: Int?
    ) {
        let shift = voice.shift ?? 0
        while let (cycle, sound) = recording.readLocalVoice(stage) {
            guard let microphone = voice.microphone else {
                voice.add(sound, frameCount: cycle.frameCount)
                let (frame, writtenCount) = (Int(cycle.sampleTime - zero) - shift, voice.track.frameCount)
                write(voice, cycle.frameCount, at: frame, end)
                guard stage == .dry else { continue }
                noteTake(cycle, at: frame, after: writtenCount, clockFrame: Double(cycle.sampleTime))
                continue
            }
            // The playing device's frame at this time, which counts by its own clock.
            let ahead = cycle.hostTime.seconds(since: positionTime) * format.sampleRate
            let converted = microphone.convert(sound, cycle, at: Double(position - shift) + ahead)
            voice.add(converted.sound, frameCount: converted.frameCount)
            let writtenCount = voice.track.frameCount
            write(voice, converted.frameCount, at: converted.frame, end)
            guard stage == .dry else { continue }
            var frames = cycle
            (frames.sampleTime, frames.frameCount) = (Int64(converted.frame), converted.frameCount)
            frames.hostTime = cycle.hostTime.advanced(bySeconds: -converted.heldFrames / format.sampleRate)
            noteTake(
                frames, at: converted.frame, after: writtenCount,
                clockFrame: Double(cycle.sampleTime) - converted.heldFrames)
        }
    }

    // MARK: The end

    /// Reads what was heard until now, completes all files and closes them.
    func finish(at now: HostTime) -> CallRecordingResult {
        writeArrivedSound(at: now)
        // No file is cut: a voice with less delay may be written further.
        let end = allVoices.map(\.track.frameCount).reduce(max(0, position - max(0, localVoice.shift ?? 0)), max)
        // Remote voices are read later than they were heard, so the recording reads on without the device.
        read(until: now.advanced(bySeconds: recording.depth + 0.3), tolerance: 0, end: end)
        mix.write(to: end)
        // The last block of the microphone may still be captured.
        for voice in allVoices { voice.finish(at: end, tolerance: voice.isLocal ? frames(0.05) : 0) }
        mix.track.writeSilence(to: end)
        mix.track.close()
        endTake()
        writtenManifest = nil
        writeManifest(at: now)
        let gapFrames = ([localVoice] + voices).reduce(0) { $0 + $1.track.gaps.reduce(0) { $0 + $1.frameCount } }
        return CallRecordingResult(
            folder: folder, seconds: Double(end) / format.sampleRate,
            mixPath: mix.track.error == nil ? mix.track.paths.first : nil, paths: allVoices.flatMap(\.track.paths),
            gapSeconds: Double(gapFrames) / format.sampleRate)
    }
}
