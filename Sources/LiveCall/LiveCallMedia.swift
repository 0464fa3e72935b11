// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotMediaTransport
import EarshotPlayout

/// The media of a ``LiveCall``: a `CallSession`, or a test's substitute. ``setMuted(_:)`` and ``voice`` are used on any thread.
/// While the call runs, all other members are used on the call's thread only.
package protocol LiveCallMedia: Sendable {
    /// The processing of the local voice; nil if there is none.
    var voice: CallVoice? { get }
    /// The number of channels of the local voice.
    var channelCount: Int { get }
    /// The format of the local voice, for its effects.
    var voiceFormat: AudioFormat { get }
    /// Levels of the microphone and of the playback.
    var levels: CallLevels { get }
    /// The latency profile, which trades delay against gaps in the heard sound.
    var latencyProfile: LatencyProfile { get }
    /// The reason that nothing can be sent; nil if there is none.
    var failure: CodecError? { get }
    /// Starts the device.
    func start() throws(AudioDeviceError)
    /// Stops the device.
    func stop()
    /// Adapts to a change of the hardware.
    func followDevice()
    /// Mutes the local voice, or unmutes it.
    func setMuted(_ isMuted: Bool)
    /// The seconds by which the processing of the local voice delays it now.
    var voiceLatency: Double { get }
    /// Adds the local voice to the playback, some seconds later, or removes it.
    func setMonitored(_ isMonitored: Bool, delay: Double)
    /// Sets the latency profile, which trades delay against gaps in the heard sound.
    func setLatencyProfile(_ profile: LatencyProfile)
    /// Sets the codec and the packet length to prefer when media is negotiated. Any thread.
    func setCodec(_ codec: Codec?, opusFrameMilliseconds: Double?) throws(CodecError)
    /// Sets the gain of the whole playback.
    func setOutputVolume(_ volume: Float)
    /// Replaces the effects of the local voice; nil for none.
    func setEffects(_ effects: CallInsert?)
    /// Sets the playback gain of a remote peer, also of its later media.
    func setLastingGain(_ gain: Float, of peer: PeerID)
    /// Returns the song that is played with the call, at first silent; nil if the media cannot play one.
    func startAccompaniment() -> CallAccompaniment?
    /// Sets the song that is played at ordered instants, for the local participant only; nil for none. Any thread.
    func setScheduledSong(_ song: CallInsert?)
    /// Begins or ends the copying of sound for ``feed(_:captureDelays:)``.
    func setListening(_ isOn: Bool)
    /// Adds the sound of the microphone and of the voices since the last call to a listener.
    /// - Parameter captureDelays: the seconds from the microphone of each remote peer to its device's cycle.
    func feed(_ listener: inout SameRoomListener, captureDelays: [PeerID: Double])
    /// Starts a recording, and ends an earlier one.
    func startRecording(includesRawVoice: Bool) throws(CodecError) -> CallRecording
    /// Ends the recording, if any. Any thread.
    func endRecording()
    /// Returns the statistics of the call with a remote peer; nil without media.
    func statistics(of peer: PeerID) -> CallStatistics?
}

extension CallSession: LiveCallMedia {
    /// The number of channels of the local voice.
    package var channelCount: Int { preferences.channelCount }

    /// The format of the local voice, for its effects.
    package var voiceFormat: AudioFormat { AudioFormat(sampleRate: preferences.deviceRate, channelCount: channelCount) }

    /// Mutes the local voice, or unmutes it.
    package func setMuted(_ isMuted: Bool) { self.isMuted = isMuted }

    /// Adds the local voice to the playback, some seconds later, or removes it.
    package func setMonitored(_ isMonitored: Bool, delay: Double) {
        (monitorDelay, self.isMonitored) = (delay, isMonitored)
    }

    /// Sets the latency profile, which trades delay against gaps in the heard sound.
    package func setLatencyProfile(_ profile: LatencyProfile) { latencyProfile = profile }

    /// Sets the gain of the whole playback.
    package func setOutputVolume(_ volume: Float) { outputVolume = volume }

    /// Replaces the effects of the local voice; nil for none.
    package func setEffects(_ effects: CallInsert?) { self.effects = effects }
}
