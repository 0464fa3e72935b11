// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport
import Foundation

/// Writes a call's recording to a folder: a file for each person, the mix, and `recording.json`.
///
/// All files begin at frame 0, which was rendered at the beginning of the recording. They line up as the local participant heard
/// the call: a remote voice is moved by the delay of the recording beyond that of live playback, the local voice by the latency of
/// the device. For one thread at a time; it waits for the disk.
final class CallRecordingWriter {
    /// The maximum number of persons; later ones are not recorded.
    static let maximumPersonCount = 64
    private let recording: CallRecording
    private let settings: CallRecordingSettings
    private let folder: String
    private let format: AudioFormat
    private var party: RecordingParty
    private var manifest: RecordingManifest
    private var writtenManifest: RecordingManifest?
    private var voices: [RecordedVoice] = []
    private var voicesByPeer: [PeerID: RecordedVoice] = [:]
    private let localVoice: RecordedVoice
    private let rawVoice: RecordedVoice?
    private var mix: RecordingMix
    /// The participants whose files could not be created.
    private var failedPeers: Set<PeerID> = []
    private var fileNames: Set<String> = ["mix", "recording"]
    private var reportedErrors: [AudioFileError] = []
    /// The playing device's frame that is frame 0, and its time; nil before the first cycle.
    private var zero: (sampleTime: Int64, hostTime: HostTime)?
    /// The frame of the timeline up to which the voices were read, and its time.
    private var position = 0
    private var positionTime = HostTime(nanoseconds: 0)
    /// The maximum seconds of silence that are written to a file in a turn.
    private static let silenceInTurn = 10.0

    /// Creates the files of the local voice and the mix.
    /// - Parameters:
    ///   - folder: exists.
    ///   - party: the local participant; its remote participants join by ``update(_:)``.
    ///   - room: the room's name.
    init(
        _ recording: CallRecording, folder: String, _ settings: CallRecordingSettings, party: RecordingParty,
        room: String
    ) throws(AudioFileError) {
        self.recording = recording
        self.settings = settings
        self.folder = folder
        self.party = party
        format = AudioFormat(sampleRate: recording.sampleRate, channelCount: recording.channelCount)
        manifest = RecordingManifest(
            earshot: settings.program, room: room, started: "", zero: 0, sampleRate: Int(format.sampleRate),
            channelCount: format.channelCount, recordedBy: party.name)
        func makeTrack(_ name: String) throws(AudioFileError) -> RecordingTrack {
            try RecordingTrack(
                path: "\(folder)/\(name).\(Self.fileExtension(settings.type))",
                format: AudioFormat(sampleRate: recording.sampleRate, channelCount: recording.channelCount), settings)
        }
        let name = RecordingFolder.fileName(for: party.name, besides: &fileNames)
        localVoice = RecordedVoice(
            try makeTrack(name), key: party.key, name: party.name, isLocal: true, channelCount: format.channelCount)
        rawVoice =
            settings.recordsRawVoice
            ? RecordedVoice(
                try makeTrack("\(name) raw"), key: party.key, name: party.name, kind: .raw, isLocal: true,
                channelCount: format.channelCount) : nil
        fileNames.insert("\(name) raw".lowercased())
        mix = RecordingMix(try makeTrack("mix"), format: format)
        if party.hasSeparateMicrophone {
            for voice in [localVoice, rawVoice] {
                voice?.microphone = SeparateMicrophone(
                    sampleRate: format.sampleRate, channelCount: format.channelCount)
            }
        }
        update(party)
    }

    private static func fileExtension(_ type: AudioFileType) -> String {
        switch type {
        case .wav, .rf64: "wav"
        case .vorbis: "ogg"
        case .adts: "aac"
        default: type.rawValue
        }
    }

    // MARK: Participants

    /// Notes who is in the room, who allows the recording, and how loud each is.
    func update(_ party: RecordingParty) {
        self.party = party
        localVoice.shift = frames(party.deviceLatency + party.processingLatency)
        rawVoice?.shift = frames(party.deviceLatency)
        for voice in [localVoice, rawVoice].compactMap({ $0 }) {
            voice.update(name: party.name, silence: nil, volume: 1, at: position)
        }
        var present: Set<ObjectIdentifier> = []
        for participant in party.participants {
            guard let voice = voice(of: participant) else { continue }
            present.insert(ObjectIdentifier(voice))
            let silence: RecordingManifest.Gap.Reason? =
                switch participant.allowsRecording {
                case nil: .undecided
                case false?: .declined
                case true?: participant.isPresent ? nil : .away
                }
            if voice.shift == nil, let depth = participant.liveDepth {
                voice.shift = max(0, frames(recording.depth - depth))
            }
            voice.update(name: participant.name, silence: silence, volume: participant.volume, at: position)
        }
        for voice in voices where !present.contains(ObjectIdentifier(voice)) {
            voice.update(
                name: voice.names.last ?? "", silence: .away, volume: voice.volumes.last?.gain ?? 1, at: position)
        }
    }

    private func frames(_ seconds: Double) -> Int { Int((seconds * format.sampleRate).rounded()) }

    /// Returns the voice of a participant, and creates it for a new person; nil if there is no place or no file for it.
    private func voice(of participant: RecordedParticipant) -> RecordedVoice? {
        if let voice = voicesByPeer[participant.peer] { return voice }
        if let key = participant.key, let voice = voices.first(where: { $0.key == key }) {
            voicesByPeer[participant.peer] = voice
            return voice
        }
        guard voices.count < Self.maximumPersonCount, !failedPeers.contains(participant.peer) else { return nil }
        let name = RecordingFolder.fileName(for: participant.name, besides: &fileNames)
        do throws(AudioFileError) {
            let track = try RecordingTrack(
                path: "\(folder)/\(name).\(Self.fileExtension(settings.type))", format: format, settings)
            let voice = RecordedVoice(
                track, key: participant.key, name: participant.name, channelCount: format.channelCount)
            voices.append(voice)
            voicesByPeer[participant.peer] = voice
            return voice
        } catch {
            failedPeers.insert(participant.peer)
            if !reportedErrors.contains(error) { newErrors.append(error) }
            return nil
        }
    }

    // MARK: Reading and writing

    /// The errors since the last call of ``takeErrors()``.
    private var newErrors: [AudioFileError] = []

    /// Returns the new errors, each of which ended a file. The other files go on.
    func takeErrors() -> [AudioFileError] {
        for error in (allVoices.map(\.track) + [mix.track]).compactMap(\.error)
        where !reportedErrors.contains(error) && !newErrors.contains(error) {
            newErrors.append(error)
        }
        reportedErrors += newErrors
        defer { newErrors = [] }
        return newErrors
    }

    /// True if nothing can be written any more.
    var isOver: Bool { mix.track.error != nil && allVoices.allSatisfy { $0.track.error != nil } }

    private var allVoices: [RecordedVoice] { [localVoice] + (rawVoice.map { [$0] } ?? []) + voices }

    /// Reads what arrived since, and writes it.
    func work(at now: HostTime) {
        read(until: now, tolerance: CallRecording.deviceTolerance, end: nil)
        // Every voice has arrived up to there.
        let end = position - frames(recording.depth)
        mix.write(to: end)
        for voice in allVoices {
            voice.padSilence(upTo: end, limit: frames(Self.silenceInTurn))
            voice.track.flush()
        }
        mix.track.flush()
        writeManifest()
    }

    private func read(until now: HostTime, tolerance: Double, end: Int?) {
        while let cycle = recording.read(
            until: now, tolerance: tolerance,
            { [voicesByPeer] peer, sound, frameCount in voicesByPeer[peer]?.add(sound, frameCount: frameCount) })
        {
            let zero = zero ?? begin(cycle)
            let frame = Int(cycle.sampleTime - zero.sampleTime)
            for voice in voices where voice.isFilled {
                guard let shift = voice.shift else {
                    voice.isFilled = false
                    continue
                }
                voice.write(frameCount: cycle.frameCount, at: frame - shift, end: end, to: &mix)
            }
            position = frame + cycle.frameCount
            positionTime = cycle.hostTime.advanced(bySeconds: Double(cycle.frameCount) / format.sampleRate)
        }
        guard let zero else { return }
        readLocalVoice(.dry, localVoice, zero, end)
        if let rawVoice { readLocalVoice(.raw, rawVoice, zero, end) }
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
        _ stage: CallRecording.LocalVoice, _ voice: RecordedVoice, _ zero: (sampleTime: Int64, hostTime: HostTime),
        _ end: Int?
    ) {
        let shift = voice.shift ?? 0
        var frame = 0
        var count = 0
        while let cycle = recording.readLocalVoice(
            stage,
            { cycle, sound in
                guard let microphone = voice.microphone else {
                    voice.add(sound, frameCount: cycle.frameCount)
                    (frame, count) = (Int(cycle.sampleTime - zero.sampleTime) - shift, cycle.frameCount)
                    return
                }
                // The playing device's frame at this time, which counts by its own clock.
                let ahead = cycle.hostTime.seconds(since: positionTime) * format.sampleRate
                let converted = microphone.convert(
                    sound, frameCount: cycle.frameCount, at: Double(position) + ahead - Double(shift))
                voice.add(ReadOnlyChannels(converted.sound), frameCount: converted.frameCount)
                (frame, count) = (converted.frame, converted.frameCount)
            })
        {
            _ = cycle
            voice.write(frameCount: count, at: frame, end: end, to: &mix)
        }
    }

    // MARK: The end

    /// Reads what was heard until now, completes all files and closes them.
    func finish(at now: HostTime) -> CallRecordingResult {
        work(at: now)
        let end = max(0, position - (localVoice.shift ?? 0))
        // Remote voices are read later than they were heard, so the recording reads on without the device.
        let drained = now.advanced(bySeconds: recording.depth + 0.3)
        read(until: drained, tolerance: 0, end: end)
        mix.write(to: end)
        position = end
        for voice in allVoices { voice.finish(at: end) }
        mix.track.padSilently(to: end)
        mix.track.close()
        writtenManifest = nil
        writeManifest()
        tagFiles()
        let gapFrames = ([localVoice] + voices).reduce(0) { $0 + $1.track.gaps.reduce(0) { $0 + $1.frameCount } }
        return CallRecordingResult(
            folder: folder, seconds: Double(end) / format.sampleRate,
            mixPath: mix.track.error == nil ? mix.track.paths.first : nil,
            paths: allVoices.flatMap(\.track.paths), gapSeconds: Double(gapFrames) / format.sampleRate)
    }

    private func tagFiles() {
        var tags = AudioFileTags()
        (tags.album, tags.date) = (manifest.room, String(manifest.started.prefix(10)))
        for track in allVoices {
            (tags.artist, tags.title) = (track.names.last, "\(manifest.room): \(track.names.last ?? "")")
            // A kind that cannot store tags has none.
            for path in track.track.paths { try? tags.write(to: path) }
        }
        (tags.artist, tags.title) = (nil, "\(manifest.room): mix")
        for path in mix.track.paths { try? tags.write(to: path) }
    }

    /// Writes the description if anything but the length has changed.
    private func writeManifest() {
        guard zero != nil else { return }
        manifest.recordedBy = party.name
        manifest.tracks = allVoices.map { describe($0) }
        manifest.tracks.append(
            RecordingManifest.Track(
                file: Self.name(mix.track), parts: mix.track.paths.count, name: "mix", names: [], key: nil,
                isLocal: false, kind: .mix, frameCount: mix.track.frameCount, gaps: [], volumes: [], offset: nil))
        var comparable = manifest
        for index in comparable.tracks.indices { comparable.tracks[index].frameCount = 0 }
        guard comparable != writtenManifest else { return }
        writtenManifest = comparable
        do throws(AudioFileError) {
            try manifest.write(inFolder: folder)
        } catch {
            if !reportedErrors.contains(error) { newErrors.append(error) }
        }
    }

    private static func name(_ track: RecordingTrack) -> String {
        track.paths.first?.split(separator: "/").last.map(String.init) ?? ""
    }

    private func describe(_ voice: RecordedVoice) -> RecordingManifest.Track {
        RecordingManifest.Track(
            file: Self.name(voice.track), parts: voice.track.paths.count, name: voice.names.last ?? "",
            names: voice.names, key: voice.key?.hex, isLocal: voice.isLocal, kind: voice.kind,
            frameCount: voice.track.frameCount, gaps: voice.track.gaps, volumes: voice.volumes,
            offset: voice.shift.map {
                .init(
                    seconds: Double($0) / format.sampleRate,
                    contains: voice.isLocal ? .deviceLatency : .recordingDepth)
            })
    }
}
