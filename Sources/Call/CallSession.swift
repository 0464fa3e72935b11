// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDevices
import EarshotMediaTransport
import EarshotPlayout
import Synchronization

/// A call with up to seven remote peers: a device, a mix of all voices, and the media negotiated with each.
///
/// The session has no network: ``client`` is for a `MediaPort`, whose owner exchanges the descriptions. The descriptions contain
/// media only. Offers have the profile `UDP/TLS/RTP/SAVPF`, answers that of their offer, but the address is unspecified, the port
/// is 9, and the attributes of ICE and DTLS are missing. The port's owner adds them.
///
/// Remote peers join, change and leave while the device runs, without affecting the sound of other peers. ``start()``,
/// ``followDevice()`` and ``stop()`` are for the thread that owns the device, all else for any thread except a render thread,
/// which never waits for the call.
///
/// The microphone may be a separate device with its own clock. It is not resampled, since each remote peer follows the clock of
/// its sender. On JACK a separate microphone avoids a period of delay if one program both feeds and hears this one.
public final class CallSession: MediaNegotiator {
    /// The maximum number of remote peers with media: a room has eight participants.
    package static let maximumRemotePeers = 7

    /// The capabilities and wishes of the local peer.
    public var preferences: CallPreferences { roster.preferences }
    /// The device that plays the call, and that also captures if ``microphone`` is nil.
    public let device: any AudioDevice
    /// The capturing device; nil if ``device`` captures.
    public let microphone: (any AudioDevice)?
    /// The processing of the local voice; nil for none.
    public let voice: CallVoice?

    let processor: CallProcessor
    private let media: CallMedia
    let roster: CallRoster
    /// The song that is played with the call; nil before the first one.
    let song = Mutex<CallAccompaniment?>(nil)
    private let reading = Mutex<Void>(())  // the lock for `levels`, which one thread at a time may read

    /// - Parameters:
    ///   - preferences: have the device's rate and block.
    ///   - device: plays, and captures if `microphone` is nil.
    ///   - microphone: captures, at the same rate. Voice processing is then off, because it needs the played sound in the same
    ///     cycle.
    ///   - cname: the local peer's name in RTCP, at most 255 bytes; not secret, and not related to the person.
    ///   - voice: the processing of the local voice, at the device's rate with the call's channels.
    public init(
        _ preferences: CallPreferences, device: any AudioDevice, microphone: (any AudioDevice)? = nil, cname: String,
        voice: CallVoice? = nil
    ) {
        precondition(microphone == nil || microphone?.sampleRate == device.sampleRate, "two rates in one call")
        self.device = device
        self.microphone = microphone
        self.voice = voice
        let wakeup = Wakeup()
        processor = CallProcessor(
            channelCount: preferences.channelCount, deviceRate: preferences.deviceRate, wakeup: wakeup, voice: voice)
        media = CallMedia(
            core: MediaCore(
                captured: processor.captured, channelCount: preferences.channelCount,
                deviceRate: preferences.deviceRate, deviceBlock: preferences.deviceBlock), wakeup: wakeup)
        roster = CallRoster(preferences, cname: cname, mixer: processor.mixer, media: media)
        processor.setRunning(false)
    }

    /// The call's media, for the port that carries the call; may outlive this session.
    public var client: (any MediaClient)? { media }

    /// Starts the device and the separate microphone, if any, and with them the sound of all remote peers.
    public func start() throws(AudioDeviceError) {
        if microphone == nil { voice?.start(on: device) } else { voice?.setProcessing(false) }
        processor.setRunning(true)
        do throws(AudioDeviceError) {
            try device.start(microphone == nil ? processor.callback : processor.playbackCallback)
            try microphone?.start(processor.captureCallback)
        } catch {
            device.stop()
            processor.setRunning(false)
            voice?.stop()
            throw error
        }
        followDevice()
    }

    /// Adapts the call to the device after a change of hardware: to its block, its output latency and its callback's priority.
    /// The port's thread and voice processing run just below that priority.
    package func followDevice() {
        media.follow(device, microphone: microphone)
        roster.follow(device, microphone: microphone)
        voice?.follow(device)
        followVoicePath()
        processor.collect()
    }

    /// Stops the devices. Remote peers stay, without sound, until the port removes them. A recording is complete afterwards.
    public func stop() {
        microphone?.stop()
        device.stop()
        processor.setRunning(false)
        voice?.stop()
        media.follow(device, microphone: microphone)
    }

    // MARK: Recording

    /// Starts recording all remote peers, also those that join or renegotiate later, and ends an earlier recording. A recording
    /// has `CallRecording.depth` of delay instead of the live delay, and therefore fewer gaps.
    /// - Parameter includesRawVoice: true also to record the local voice before voice processing.
    /// - Throws: `CodecError` if no second decoder can be created.
    package func startRecording(includesRawVoice: Bool = false) throws(CodecError) -> CallRecording {
        let recording = CallRecording(
            of: processor, sampleRate: preferences.deviceRate, channelCount: preferences.channelCount)
        try roster.record(recording, includesRawVoice: includesRawVoice)
        return recording
    }

    /// Ends the recording, if any; frames not read yet are lost.
    package func endRecording() { roster.endRecording() }

    // MARK: Local voice

    /// True if the local voice is silent for all remote peers. A change is a fade over 5 ms.
    public var isMuted: Bool {
        get { processor.isMuted }
        set { processor.isMuted = newValue }
    }

    /// True to play the processed local voice to the local participant, also while muted: in the same cycle, or later by
    /// ``monitorDelay``. A change is a ramp over 10 ms, or over a block if that is longer. Has no effect with a separate microphone,
    /// which has no common cycle with the loudspeaker. ``outputVolume`` does not affect it. Any thread except a render thread.
    package var isMonitored: Bool {
        get { processor.isMonitored }
        set { processor.isMonitored = newValue }
    }

    /// The greatest ``monitorDelay`` in seconds.
    package static let longestMonitorDelay = MonitorDelay.longest

    /// The seconds by which the monitor is later than its cycle, at most ``longestMonitorDelay``. Any thread except a render thread.
    package var monitorDelay: Double {
        get { processor.monitorDelay }
        set { processor.monitorDelay = newValue }
    }

    /// The present latency of voice processing, effects and insert in seconds.
    package var voiceLatency: Double {
        let processing = voice?.processing == .on ? voice?.processingLatency ?? 0 : 0
        return processing + (effects?.latency ?? 0) + (captureInsert?.latency ?? 0)
    }

    /// The local levels: of the microphone, muted or not, and of the played sound.
    public var levels: CallLevels {
        processor.collect()
        return reading.withLock { _ in processor.levels }
    }

    /// The program's own processing of the local voice; nil for none.
    ///
    /// The insert follows voice processing and effects, and precedes ``isMuted``. In an exchange during the call, the input of
    /// the new insert fades in over 10 ms, its ``CallInsert/latency`` passes, and a crossfade of 10 ms follows. If there are
    /// several exchanges within a fade, the last one wins. The call retains an insert until its fade has ended. It releases the
    /// insert afterwards when this property is read or set, when ``levels`` is read, at ``followDevice()`` or at ``stop()``. Any
    /// thread except a render thread.
    public var captureInsert: CallInsert? {
        get { insert(at: processor.captureInsert) }
        set { processor.captureInsert.set(newValue) }
    }

    /// The effects of the local voice; nil for none. They follow voice processing and precede ``captureInsert``, and are
    /// exchanged and released like it. Any thread except a render thread.
    package var effects: CallInsert? {
        get { insert(at: processor.effects) }
        set { processor.effects.set(newValue) }
    }

    /// The error that stopped sending; nil if there is none.
    public var failure: CodecError? { media.failure }

    // MARK: Playback

    /// The trade of delay against gaps, for all current and later remote peers.
    ///
    /// At first ``CallPreferences/latencyProfile``. A change takes effect within seconds, without a gap or renegotiation: the
    /// delay grows by slower playback and repeated sound, and falls by faster playback and removed sound. The time for which late
    /// packets are remembered changes too. Recordings keep their delay. Any thread except a render thread.
    public var latencyProfile: LatencyProfile {
        get { roster.latencyProfile }
        set { roster.latencyProfile = newValue }
    }

    /// The volume of the played mix as a factor, at first 1; clamped to 0…1,000 (60 dB), NaN to 0.
    ///
    /// A change is a ramp over 5 ms, or over a block if that is longer. It follows each remote peer's gain, and the result is
    /// limited to full scale. Any thread except a render thread.
    public var outputVolume: Float {
        get { processor.outputVolume }
        set { processor.outputVolume = Self.clampedGain(newValue) }
    }

    /// The program's own processing of the mix of all remote peers; nil for none.
    ///
    /// The insert precedes ``outputVolume``. Its output is limited to full scale, measured in ``levels``, and used as the
    /// reference of voice processing; ``CallStatistics/mouthToEar`` does not count the insert's latency. The insert is exchanged
    /// and released like ``captureInsert``. Any thread except a render thread.
    public var playbackInsert: CallInsert? {
        get { insert(at: processor.playbackInsert) }
        set { processor.playbackInsert.set(newValue) }
    }

    private func insert(at point: InsertPoint) -> CallInsert? {
        point.collect()
        return point.insert
    }

    /// The maximum gain as a factor, 60 dB: a greater one is a mistake, and products of samples must stay finite.
    private static let greatestGain: Float = 1_000

    private static func clampedGain(_ gain: Float) -> Float { gain.isNaN ? 0 : max(0, min(greatestGain, gain)) }

    // MARK: Remote peers

    /// Returns the media to offer to a remote peer. The previous agreement applies until ``accept(_:from:)``.
    /// - Throws: ``CallError``; `CodecError` if no codec can be offered.
    public func offer(to peer: PeerID) throws -> SessionDescription { try roster.offer(to: peer) }

    /// Answers a remote peer's offer and starts media with the peer, as far as both peers support it.
    ///
    /// A later offer replaces an earlier one; an offer without changes has no effect. If it throws, the previous agreement stays.
    /// - Throws: ``CallError``; `NegotiationError` if the two peers have no common format; `CodecError`.
    public func answer(_ offer: SessionDescription, from peer: PeerID) throws -> SessionDescription {
        try roster.answer(offer, from: peer)
    }

    /// Applies a remote peer's answer to the last offer made to it, as ``answer(_:from:)`` applies an offer.
    /// - Throws: ``CallError``, also if no offer was made; `NegotiationError` without a common format; `CodecError`.
    public func accept(_ answer: SessionDescription, from peer: PeerID) throws {
        try roster.accept(answer, from: peer)
    }

    /// Sets the preferred codec of later offers and answers. Running media changes when it is renegotiated. Between Opus and PCM
    /// at 48 kHz, and between packet lengths of Opus, the sound then continues without a gap.
    ///
    /// Unlike ``CallPreferences/codec`` the preferred codec is not required: a remote peer without it gets another one.
    /// - Parameters:
    ///   - codec: nil for any codec, Opus first.
    ///   - opusFrameMilliseconds: as ``CallPreferences/opusFrameMilliseconds``.
    /// - Throws: if this machine cannot encode with the codec.
    package func setCodec(_ codec: Codec?, opusFrameMilliseconds: Double?) throws(CodecError) {
        try roster.setCodec(codec, opusFrameMilliseconds: opusFrameMilliseconds)
    }

    /// Sets the gain of a remote voice as a factor, at first 1; clamped to 0…1,000 (60 dB), NaN to 0.
    ///
    /// A change is a ramp over 5 ms, or over a block if that is longer. The gain is kept until the remote peer is removed. Does
    /// nothing if there is no such peer.
    public func setGain(_ gain: Float, of peer: PeerID) { roster.setGain(Self.clampedGain(gain), of: peer) }

    /// Sets the gain of a remote voice as ``setGain(_:of:)`` does, and the gain from which the peer's later media start: also if
    /// the peer has no media yet, and after it was removed.
    package func setLastingGain(_ gain: Float, of peer: PeerID) {
        roster.setLastingGain(Self.clampedGain(gain), of: peer)
    }

    /// Returns the gain of a remote voice as a factor; nil if there is no such peer.
    public func gain(of peer: PeerID) -> Float? { roster.gain(of: peer) }

    /// Removes a remote peer, whose voice fades out over 5 ms, or over a block if that is longer. Does nothing if there is no
    /// such peer.
    public func end(_ peer: PeerID) { roster.end(peer) }

    /// The remote peers with negotiated media, also before their transport is open.
    public var peers: Set<PeerID> { roster.peers }

    /// Returns the statistics of the call with a remote peer; nil if the peer has no media.
    public func statistics(of peer: PeerID) -> CallStatistics? { roster.statistics(of: peer) }

    /// The statistics of the call with each remote peer that has media.
    public var statistics: [PeerID: CallStatistics] {
        var all: [PeerID: CallStatistics] = [:]
        for peer in peers { all[peer] = statistics(of: peer) }
        return all
    }
}

/// The reason that a remote peer cannot take part.
public enum CallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call has the maximum number of remote peers.
    case full
    /// The remote peer sent an answer, but no offer was made to it.
    case notOffered(PeerID)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .full: "a call has at most \(CallSession.maximumRemotePeers) remote peers"
        case .notOffered(let peer): "\(peer) answered without an offer"
        }
    }
}
