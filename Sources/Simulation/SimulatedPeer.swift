// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotMediaTransport
import EarshotPlayout

/// One peer of a call on virtual time: a simulated card, the render callback, and the media core. It runs on the caller's thread.
/// Other peers know it by its number.
package final class SimulatedPeer {
    package let id: PeerID
    /// The preferences with which the peer negotiates; rate and block are those of the card.
    package let preferences: CallPreferences
    /// The configuration negotiated with the first other peer; those with further peers may differ.
    package let configuration: CallConfiguration
    package let card: SimulatedCard
    package let processor: CallProcessor
    package var core: MediaCore
    /// The peer's host clock. All times inside the peer are of this clock; ``CallSimulation`` has virtual time.
    package let hostClock: PeerHostClock
    /// The kept samples of the loudspeaker's sound by channel. The first sample is frame ``heardFrom`` of the card.
    package internal(set) var heard: [[Float]]
    /// The number of the loudspeaker's frames before the kept ones.
    package internal(set) var heardFrom = 0
    /// The statistics of the first other peer's playout at each cycle of the card, if the history is kept.
    package internal(set) var history: [(elapsed: Double, statistics: PlayoutStatistics)] = []
    /// The seconds of the call in which the media thread does not run.
    package var stalls: [Range<Double>] = []
    /// The seconds of the call in which the voice processing thread does not run.
    package var voiceStalls: [Range<Double>] = []
    /// The processing of the peer's own voice; nil for none.
    package let voice: CallVoice?
    /// The echo from the loudspeaker to the microphone: delays in frames, at least two blocks, with a gain for each.
    package var echo: [(frames: Int, gain: Float)] = []
    /// The files that record the peer's microphone and loudspeaker; nil for none.
    var tape: PeerTape?

    /// The agreement with one other peer.
    final class Agreement {
        let configuration: CallConfiguration
        let media: MediaPeer
        let heard: Heard?
        /// The card's frame at which the stream began (`streamOrigin`), and the number of the card's frames per frame of the
        /// stream (`scale`).
        let streamOrigin: Int
        let scale: Double

        init(_ configuration: CallConfiguration, _ media: MediaPeer, _ heard: Heard?, streamOrigin: Int) {
            self.configuration = configuration
            self.media = media
            self.heard = heard
            self.streamOrigin = streamOrigin
            scale = configuration.deviceRate / configuration.streamRate
        }
    }
    /// Another peer's voice: its playout, and its place in the mixer.
    struct Heard {
        let playout: Playout
        let place: PeerMixer.Place
    }
    var agreements: [PeerID: Agreement] = [:]
    var meters: [StreamMeter] = []
    var streams: [StreamEncoder.Form: (encoder: StreamEncoder, origin: Int)] = [:]

    let sound: SimulatedSound
    let keepsFrom: Double?
    let keepsHistory: Bool
    private let wakeup = Wakeup()
    /// The sound on its way to the microphone.
    let air: AudioRing
    /// The sound that the loudspeaker has played; nil if it is not kept or recorded.
    let room: AudioRing?
    let block: AudioBuffer
    /// The frames passed to the microphone so far.
    var fed = 0
    var inbox: [(bytes: [UInt8], from: PeerID)] = []
    // The time until which the card's cycles are stopped. Unchecked, because this and the next two times are read at each step of
    // the simulation, where a check of exclusive access is expensive.
    @exclusivity(unchecked) var held = HostTime(nanoseconds: 0)
    @exclusivity(unchecked) var callTime = HostTime(nanoseconds: 0)
    @exclusivity(unchecked) var mediaTime = SimulatedPeer.never
    static let never = HostTime(nanoseconds: .max)

    init(
        _ id: PeerID, _ peer: CallSimulation.Configuration.Peer, _ configuration: CallSimulation.Configuration,
        _ agreed: CallConfiguration, tape: PeerTape?
    ) throws {
        self.id = id
        self.tape = tape
        hostClock = peer.hostClock
        preferences = configuration.preferences(peer)
        self.configuration = agreed
        sound = peer.sound ?? .speechLikeNoise(voice: UInt64(id.rawValue))
        keepsFrom = configuration.keepsFrom
        keepsHistory = configuration.keepsHistory
        voice = try peer.voice(agreed)
        let channels = configuration.channelCount
        let capacity = 32_768 + Int(configuration.longestSkip * peer.sampleRate)
        air = AudioRing(channelCount: channels, capacity: capacity)
        room = keepsFrom == nil && tape == nil ? nil : AudioRing(channelCount: channels, capacity: capacity)
        block = AudioBuffer(channelCount: channels, frameCapacity: peer.blockFrameCount)
        var card = SimulatedCard.Configuration(
            sampleRate: peer.sampleRate, blockFrameCount: peer.blockFrameCount, inputChannelCount: channels,
            outputChannelCount: channels, driftPPM: peer.driftPPM, source: air, sink: room)
        card.script = peer.cardEvents
        self.card = try SimulatedCard(card)
        processor = CallProcessor(
            channelCount: channels, deviceRate: peer.sampleRate, wakeup: wakeup, voice: voice)
        core = MediaCore(
            captured: processor.captured, channelCount: channels, deviceRate: peer.sampleRate,
            deviceBlock: peer.blockFrameCount)
        heard = Array(repeating: [], count: channels)
    }

    /// Starts the card.
    func start(at time: HostTime) {
        card.renderer.start(at: hostClock.hostTime(at: time))
        callTime = card.renderer.nextCallTime
    }
}
