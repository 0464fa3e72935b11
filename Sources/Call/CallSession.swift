// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDevices
import EarshotMediaTransport
import EarshotPlayout
import Synchronization

/// A call with up to seven remote peers: a device, a mix of all voices, and what was agreed on with each.
///
/// It has no network of its own: ``client`` is for a `MediaPort`, whose owner passes the descriptions on. These say what media
/// there is and no more: offers are of the profile `UDP/TLS/RTP/SAVPF`, answers of their offer's, but the address is
/// unspecified, the port 9, and ICE's and DTLS's attributes are missing. All that is the owner's to put in.
///
/// Remote peers join, change and leave while the device runs, without touching the sound of others. ``start()``, ``followDevice()``
/// and ``stop()`` are for the thread that has the device, all else for any thread but a render thread, which never waits for it.
///
/// The microphone may be a separate device with another clock: it is not resampled, since each remote peer follows the
/// clock of what it gets. On JACK it spares a period if one program feeds this one and hears it too.
public final class CallSession: MediaNegotiator {
    /// Remote peers with media at once, at most: a room of eight.
    package static let maximumRemotePeers = 7

    /// This end's capabilities and wishes.
    public let preferences: CallPreferences
    /// The sound card the call runs on.
    public let device: any AudioDevice
    /// The device that captures instead; nil if ``device`` does.
    public let microphone: (any AudioDevice)?
    /// The processing of the local voice; nil for none.
    public let voice: CallVoice?

    private let processor: CallProcessor
    private let media: CallMedia
    private let roster: CallRoster
    private let reading = Mutex<Void>(())  // the levels' box has one reader at a time

    /// - Parameters:
    ///   - preferences: of the device's rate and block.
    ///   - device: plays, and captures where `microphone` is nil.
    ///   - microphone: captures, at the same rate. Voice processing stays off then: it needs to know what is played.
    ///   - cname: names this end in RTCP; no secret, and nothing about the person; at most 255 bytes.
    ///   - voice: what one's own voice goes through; at the device's rate and the call's channels.
    public init(
        _ preferences: CallPreferences, device: any AudioDevice, microphone: (any AudioDevice)? = nil, cname: String,
        voice: CallVoice? = nil
    ) {
        precondition(microphone == nil || microphone?.sampleRate == device.sampleRate, "two rates in one call")
        self.preferences = preferences
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

    /// For the port that carries the call; it may live longer than the call.
    public var client: (any MediaClient)? { media }

    /// Starts the device: from now on there is sound for those who are in.
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

    /// Schedules the port's thread and voice processing just under the device's callback, as that is scheduled now: after a
    /// change of hardware.
    package func followDevice() {
        media.follow(device, microphone: microphone)
        roster.follow(device)
        voice?.follow(device)
        processor.collect()
    }

    /// Stops the devices. Remote peers stay, and hear nothing, until the port lets go of them. What was recorded is complete after
    /// it.
    public func stop() {
        microphone?.stop()
        device.stop()
        processor.setRunning(false)
        voice?.stop()
        media.follow(device, microphone: microphone)
    }

    // MARK: Recording

    /// Records all remote peers from now on, half a second later than live playout and with fewer gaps. Ends any earlier recording.
    /// Includes peers that join or renegotiate later.
    /// - Throws: `CodecError` if no second decoder can be created.
    package func startRecording() throws -> CallRecording {
        let recording = CallRecording(
            processor.cycles, sampleRate: preferences.deviceRate, channelCount: preferences.channelCount)
        try roster.record(recording)
        return recording
    }

    /// Ends the recording, if any; discards what has not been read yet.
    package func endRecording() { roster.endRecording() }

    // MARK: One's own voice

    /// Returns true if one's own voice is silent for all others; it fades in and out within 5 ms.
    public var isMuted: Bool {
        get { processor.isMuted }
        set { processor.isMuted = newValue }
    }

    /// Loudness at this end: one's own microphone, muted or not, and what is played.
    public var levels: CallLevels {
        processor.collect()
        return reading.withLock { _ in processor.levels }
    }

    /// The program's own processing of one's own voice; nil for none, which leaves the voice as it is.
    ///
    /// The insert comes after voice processing and ``CallVoice/effects``, and before ``isMuted``. An exchange while the call
    /// runs is a crossfade of 5 ms, which begins after the new insert's ``CallInsert/latency``; of several exchanges within a
    /// fade the last is heard. The call keeps an insert until its fade has ended. It is released after that, when this property
    /// is read or set, when ``levels`` is read, at ``followDevice()`` or at ``stop()``. Any thread but a render thread.
    public var captureInsert: CallInsert? {
        get { insert(at: processor.captureInsert) }
        set { processor.captureInsert.set(newValue) }
    }

    /// The reason that nothing is sent any more; nil if all is well.
    public var failure: CodecError? { media.failure }

    // MARK: Playback

    /// The trade of delay against gaps in what is heard, for all present and later remote peers.
    ///
    /// At first ``CallPreferences/dial``. A change is followed while the device runs, without a gap and without a negotiation:
    /// a longer delay is reached by playing slower and by stretches that are repeated, within seconds; how long the dial
    /// remembers late packets changes too. Recordings keep their delay. Any thread but a render thread.
    public var dial: PlayoutDial {
        get { roster.dial }
        set { roster.dial = newValue }
    }

    /// The volume of all that is played, as a factor, 1 at first; clamped to 0…1,000 (60 dB), NaN to 0.
    ///
    /// A change is a ramp over one block. Each remote peer's gain comes before it, and the sum stays below full scale after it. Any
    /// thread but a render thread.
    public var outputVolume: Float {
        get { processor.outputVolume }
        set { processor.outputVolume = Self.clampedGain(newValue) }
    }

    /// The program's own processing of the mix of all remote peers; nil for none, which leaves the mix as it is.
    ///
    /// The insert gets the mix before ``outputVolume``. What it makes is kept below full scale, is in ``levels``, and is known to
    /// voice processing as what is played; ``CallStatistics/mouthToEar`` does not count its latency. It is exchanged and released
    /// as ``captureInsert``. Any thread but a render thread.
    public var playbackInsert: CallInsert? {
        get { insert(at: processor.playbackInsert) }
        set { processor.playbackInsert.set(newValue) }
    }

    private func insert(at point: InsertPoint) -> CallInsert? {
        point.collect()
        return point.insert
    }

    /// 60 dB. More is a mistake, and products of samples stay finite.
    private static let greatestGain: Float = 1_000

    private static func clampedGain(_ gain: Float) -> Float { gain.isNaN ? 0 : max(0, min(greatestGain, gain)) }

    // MARK: Remote peers

    /// The media that is offered to a remote peer. What was agreed on before goes on until ``accept(_:from:)``.
    /// - Throws: ``CallError``; `CodecError` if the only requested codec is missing.
    public func offer(to peer: PeerID) throws -> SessionDescription { try roster.offer(to: peer) }

    /// Answers a remote peer's offer: it is heard, and sent to, as far as it wants both and this end can.
    ///
    /// A later offer takes the place of an earlier; one that changes nothing disturbs nothing. Where this throws, what was
    /// agreed on before goes on.
    /// - Throws: ``CallError``; `NegotiationError` if the two ends have no format in common; `CodecError`.
    public func answer(_ offer: SessionDescription, from peer: PeerID) throws -> SessionDescription {
        try roster.answer(offer, from: peer)
    }

    /// Takes a remote peer's answer to the last offer made to it, as ``answer(_:from:)`` takes an offer.
    /// - Throws: as it does.
    public func accept(_ answer: SessionDescription, from peer: PeerID) throws {
        try roster.accept(answer, from: peer)
    }

    /// Sets the gain of a remote peer's voice here, as a factor, 1 at first; clamped to 0…1,000 (60 dB), NaN to 0.
    ///
    /// A change is a ramp over one block. The gain is kept until the remote peer is forgotten. Does nothing if there is none.
    public func setGain(_ gain: Float, of peer: PeerID) { roster.setGain(Self.clampedGain(gain), of: peer) }

    /// The gain of a remote peer's voice, as a factor; nil if there is no such peer.
    public func gain(of peer: PeerID) -> Float? { roster.gain(of: peer) }

    /// Removes a remote peer: it fades out within a block. Does nothing if there is none.
    public func end(_ peer: PeerID) { roster.end(peer) }

    /// Remote peers with negotiated media, whether or not their transport is open yet.
    public var peers: Set<PeerID> { roster.peers }

    /// Returns the statistics of the call with a remote peer; nil if there is no media with it.
    public func statistics(of peer: PeerID) -> CallStatistics? { roster.statistics(of: peer) }

    /// The statistics of the call, by remote peer.
    public var statistics: [PeerID: CallStatistics] {
        var all: [PeerID: CallStatistics] = [:]
        for peer in peers { all[peer] = statistics(of: peer) }
        return all
    }
}

/// The reason that a remote peer cannot take part.
public enum CallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There are as many as can be.
    case full
    /// An answer without an offer.
    case notOffered(PeerID)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .full: "a call has at most \(CallSession.maximumRemotePeers) remote peers"
        case .notOffered(let peer): "\(peer) answered without an offer"
        }
    }
}
