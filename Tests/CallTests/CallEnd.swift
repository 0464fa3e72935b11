import AudioBase
import AudioDevices
import MediaTransport
import Playout
import TestSupport

@testable import Call

/// One end of a call on virtual time: a simulated card, the render callback, the media core; the thread is whoever calls.
final class CallEnd {
    /// What a microphone hears: frame and channel, counted at the card's rate, to a sample.
    typealias Sound = (_ frame: Int, _ channel: Int) -> Float

    let configuration: CallConfiguration
    let card: SimulatedCard
    let processor: CallProcessor
    var core: MediaCore
    /// What the loudspeaker said, a channel each, from `heardFrom` on.
    private(set) var heard: [[Float]]
    /// Frames that were not kept.
    private(set) var heardFrom = 0
    /// The delay playout holds, once a call of the card.
    private(set) var history: [(elapsed: Double, statistics: PlayoutStatistics)] = []
    /// Seconds of the call in which the media thread does not run.
    var stalls: [Range<Double>] = []
    /// Seconds of the call in which voice processing's thread does not run.
    var voiceStalls: [Range<Double>] = []
    /// What the voice goes through.
    let voice: CallVoice?
    /// From the loudspeaker to the microphone: after so many frames, which are two blocks or more, so much of each sample.
    var echo: [(frames: Int, gain: Float)] = []

    private let says: Sound
    private let keepsFrom: Double
    private var streams: [StreamEncoder.Form: StreamEncoder] = [:]
    private let wakeup = Wakeup()
    private let air: AudioRing
    private let room: AudioRing
    private let block: AudioBuffer
    private var fed = 0
    private var held = HostTime(nanoseconds: 0)
    private var inbox: [(bytes: [UInt8], from: PeerID)] = []
    private var voices: [PeerID: (playout: Playout, place: VoiceMixer.Place)] = [:]

    init(
        _ configuration: CallConfiguration, driftPPM: Double, session: RTPSession?, keepsFrom: Double,
        longestSkip: Double, voice: CallVoice? = nil, says: @escaping Sound
    ) throws {
        self.voice = voice
        let channels = configuration.channelCount
        self.configuration = configuration
        self.says = says
        self.keepsFrom = keepsFrom
        let capacity = 32_768 + Int(longestSkip * configuration.deviceRate)
        air = AudioRing(channelCount: channels, capacity: capacity)
        room = AudioRing(channelCount: channels, capacity: capacity)
        block = AudioBuffer(channelCount: channels, frameCapacity: configuration.deviceBlock)
        card = try SimulatedCard(
            SimulatedCard.Configuration(
                sampleRate: configuration.deviceRate, blockFrameCount: configuration.deviceBlock,
                inputChannelCount: channels, outputChannelCount: channels, driftPPM: driftPPM, source: air.reader,
                sink: room.writer))
        processor = CallProcessor(
            channelCount: channels, deviceRate: configuration.deviceRate, wakeup: wakeup, voice: voice)
        core = MediaCore(
            captured: processor.captured, channelCount: channels, deviceRate: configuration.deviceRate,
            deviceBlock: configuration.deviceBlock)
        heard = Array(repeating: [], count: channels)
        if let session { try add(Self.other, session: session) }
    }

    /// The far side's program began anew: other numbers, the same address.
    func restart(session: RTPSession) throws {
        core.remove(Self.other, at: HostTime(nanoseconds: 0)) { _, _ in }  // nobody is told
        core.add(
            try MediaPeer(
                configuration, stream: StreamEncoder(configuration), playout: playout, session: session),
            as: Self.other)
    }

    /// The far side in a call of two.
    static let other = PeerID(0)

    /// What its voice is played by.
    var playout: Playout { voices[Self.other]!.playout }
    func playout(of peer: PeerID) -> Playout? { voices[peer]?.playout }

    /// Another far side; or one that is there, with which something else was agreed on.
    func add(
        _ peer: PeerID, session: RTPSession, gain: Float = 1, _ configuration: CallConfiguration? = nil,
        direction: SessionDescription.Direction = .sendReceive
    ) throws {
        let configuration = configuration ?? self.configuration
        let old = voices.removeValue(forKey: peer)
        var playout: Playout?
        if direction.receives {
            let new = try Playout(configuration.playout)
            guard let place = processor.mixer.add(new, gain: gain) else { throw NoPlace() }
            voices[peer] = (new, place)
            playout = new
        }
        let shared = try streams[configuration.form] ?? StreamEncoder(configuration)
        streams[configuration.form] = shared
        core.add(
            try MediaPeer(
                configuration, stream: direction.sends ? shared : nil, playout: playout, session: session), as: peer)
        if let old { processor.mixer.remove(old.place) }
    }

    /// Nothing is agreed on with one far side any more, for now.
    func rest(_ peer: PeerID) {
        core.rest(peer)
        if let voice = voices.removeValue(forKey: peer) { processor.mixer.remove(voice.place) }
    }

    /// Says goodbye to one far side.
    func remove(_ peer: PeerID, at now: HostTime, transmit: MediaCore.Transmit) {
        core.remove(peer, at: now, transmit: transmit)
        if let voice = voices.removeValue(forKey: peer) { processor.mixer.remove(voice.place) }
    }

    func setGain(_ gain: Float, of peer: PeerID) {
        if let voice = voices[peer] { processor.mixer.setGain(gain, at: voice.place) }
    }

    /// How loud a far side is.
    func level(of peer: PeerID) -> VoiceLevel? { voices[peer].map { processor.mixer.level(at: $0.place) } }

    struct NoPlace: Error {}

    /// Says goodbye to everybody.
    func leave(at now: HostTime, transmit: MediaCore.Transmit) {
        for peer in voices.keys { core.leave(peer, at: now, transmit: transmit) }
    }

    /// From now on the card does not call until so many seconds have passed; it then says that it skipped them.
    func skipCycles(for seconds: Double) { held = card.renderer.nextCallTime.advanced(bySeconds: seconds) }

    /// When the card calls next.
    var nextCallTime: HostTime { max(card.renderer.nextCallTime, held) }

    /// The card's next cycle: microphone, callback, loudspeaker.
    func runCycle(at now: HostTime, elapsed: Double) {
        let frames = configuration.deviceBlock
        // What the card skips, the air said all the same.
        repeat {
            for c in 0..<block.channels.count {
                for i in 0..<frames { block.channels[c][i] = says(fed + i, c) + echoed(fed + i, c) }
            }
            fed += frames
            air.writer.write(block.channels, frameCount: frames)
        } while due(fed / frames + 1) <= now
        var cycle = card.renderer.beginCycle(at: now)
        processor.callback(&cycle)
        card.renderer.endCycle(at: now)
        if !voiceStalls.contains(where: { $0.contains(elapsed) }) { voice?.worker?.runPending() }
        while case let slice = room.reader.read(block.channels, frameCount: frames), slice.frameCount > 0 {
            if elapsed < keepsFrom {
                heardFrom += slice.frameCount
                continue
            }
            for c in 0..<heard.count {
                heard[c].append(contentsOf: UnsafeBufferPointer(start: block.channels[c], count: slice.frameCount))
            }
        }
        if let voice = voices[Self.other] { history.append((elapsed, voice.playout.statistics)) }
    }

    private func echoed(_ frame: Int, _ channel: Int) -> Float {
        var sum: Float = 0
        for path in echo {
            let from = frame - path.frames - heardFrom
            if heard[channel].indices.contains(from) { sum += path.gain * heard[channel][from] }
        }
        return sum
    }

    private func due(_ call: Int) -> HostTime {
        (card.firstInputFrameTime ?? HostTime(nanoseconds: 0)).advanced(
            bySeconds: Double(call * configuration.deviceBlock) / card.configuration.trueSampleRate)
    }

    /// What the media thread does when it wakes.
    func runMedia(at now: HostTime, elapsed: Double, transmit: MediaCore.Transmit) throws {
        if stalls.contains(where: { $0.contains(elapsed) }) { return }
        for (datagram, from) in inbox { datagram.withUnsafeBytes { core.receive($0, from: from, at: now) } }
        inbox.removeAll(keepingCapacity: true)
        try core.sendCaptured(at: now, transmit: transmit)
        core.tick(at: now, transmit: transmit)
    }

    /// What went over the wire, in a call of two.
    var statistics: MediaStatistics { statistics(of: Self.other) }
    func statistics(of peer: PeerID) -> MediaStatistics {
        core.statistics(of: peer) ?? MediaStatistics(rtp: RTPStatistics())
    }

    func receive(_ datagram: [UInt8], from peer: PeerID = other) { inbox.append((datagram, peer)) }

    /// A second or so of what was said, as the converter saw it.
    func spoken(_ seconds: Range<Double>, channel: Int = 0) -> (samples: [Float], from: HostTime) {
        let rate = card.configuration.trueSampleRate
        let first = Int(seconds.lowerBound * rate)
        let start = card.firstInputFrameTime ?? HostTime(nanoseconds: 0)
        return (
            (first..<Int(seconds.upperBound * rate)).map { says($0, channel) },
            start.advanced(bySeconds: Double(first) / rate)
        )
    }

    /// A part of what was heard, by the card's clock; what was not kept is left out.
    func heard(_ seconds: Range<Double>, channel: Int = 0) -> (samples: [Float], from: HostTime) {
        let rate = card.configuration.trueSampleRate
        let first = max(0, Int(seconds.lowerBound * rate) - heardFrom)
        let last = min(heard[channel].count, Int(seconds.upperBound * rate) - heardFrom)
        let start = card.firstOutputFrameTime ?? HostTime(nanoseconds: 0)
        return (
            Array(heard[channel][min(first, last)..<last]),
            start.advanced(bySeconds: Double(first + heardFrom) / rate)
        )
    }
}
