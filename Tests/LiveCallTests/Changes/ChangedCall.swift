// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotNearby
import Foundation
import TestSupport

@testable import EarshotCall
@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import EarshotSimulation

/// A call of two people and a third who comes and goes, on virtual time, with 40 random changes from a seed.
///
/// Each person's microphone hears a tone of its own, and persons 0 and 1 have a song. The network is wired and loses nothing, so
/// that each gap has a cause in the call. The cards drift, and their blocks differ in length.
final class ChangedCall {
    struct NoClient: Error {}

    /// A voice and who hears it.
    struct VoicePath: Hashable {
        let listener: MemberID
        let speaker: MemberID
    }

    /// Missing frames of a voice.
    struct Gap {
        let time: HostTime
        let path: VoicePath
        let text: String
        let frameCount: Int
        /// True while a change of the codec or the device explains a gap of this voice, but not as long a one.
        let isDuringChange: Bool
    }

    static let rate = 48_000.0
    /// The amplitude of a tone. At the loudest volumes three voices stay below full scale, and no ramp over 5 ms has −60 dBFS
    /// above 2 kHz.
    static let amplitude = 0.06
    static let changeCount = 40
    /// The person who joins and leaves.
    static let comingPerson = 2
    /// The seconds before the first change, of changes, and after the last.
    private static let (quietTime, changeTime, endTime) = (0.7, 4.0, 0.6)
    /// The interval of ``ChangedPeer/observe()`` in seconds, as in ``LiveCall``.
    private static let observationInterval = 0.05

    static let beginning = HostTime(nanoseconds: 1_000_000_000)

    let seed: UInt64
    let songs: SongFiles
    let kinds: [CallChange.Kind]
    var random: SeededRandom
    private(set) var now = ChangedCall.beginning
    /// The people in the call; nil for one who is away.
    var peers: [ChangedPeer?] = [nil, nil, nil]
    /// The peers that have left.
    var departed: [ChangedPeer] = []
    private(set) var changes: [CallChange] = []
    var gains = ExpectedGains()
    /// The gaps that no change of the codec or device explains.
    private(set) var gaps: [Gap] = []
    /// The counters of each voice.
    private(set) var traces: [VoicePath: VoiceTrace] = [:]
    var moves: [Move] = []
    /// The last card that each person has moved to.
    var startedCards: [Int: StartedCard] = [:]
    /// The frames that a listener may miss because of a changed codec or device.
    var allowances: [GapAllowance] = []
    /// The pairs of people who negotiate: the sums of their numbers.
    var negotiations: Set<Int> = []
    /// Failures that are no clicks and no gaps.
    private(set) var problems: [String] = []
    /// The volumes that each person's program remembers.
    var volumes = [PeerVolumes](repeating: PeerVolumes(), count: 3)
    var roster: Roster?
    var lastID: UInt64 = 0

    private var agenda = Agenda()
    private var lastArrivals = [HostTime](repeating: ChangedCall.beginning, count: 9)
    private var linkDelays: [SeededRandom]
    private var missingFrames: [[MemberID: Int]] = [[:], [:], [:]]

    /// The frequencies of all tones in hertz: of the three voices, and of the songs of persons 0 and 1. A song's is a multiple of
    /// the voice's, so that a removed period of the voice is a number of whole periods of the song.
    static let frequencies = [100, 150, 200, 400, 300]
    /// The amplitude of a song.
    static let songAmplitude = 0.01

    /// Returns whole periods of a tone: 20 ms, at a rate that is a multiple of 50 Hz.
    static func tone(frequency: Int, rate: Double = ChangedCall.rate) -> [Float] {
        (0..<Int(rate) / 50).map { sine($0, frequency: Double(frequency), rate: rate, amplitude: amplitude) }
    }

    /// - Parameter kinds: the kinds of changes to draw.
    init(seed: UInt64, songs: SongFiles, kinds: [CallChange.Kind] = CallChange.Kind.drawn) {
        self.seed = seed
        self.kinds = kinds
        self.songs = songs
        random = SeededRandom(seed: seed)
        linkDelays = (0..<9).map { SeededRandom(seed: seed &* 16 &+ $0) }
    }

    var present: [ChangedPeer] { peers.compactMap { $0 } }

    /// Returns a number below a limit.
    func draw(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

    func draw<Element>(from elements: [Element]) -> Element? { elements.isEmpty ? nil : elements[draw(elements.count)] }

    func note(_ problem: String) {
        problems.append(String(format: "%.3f s: ", now.seconds(since: Self.beginning)) + problem)
    }

    // MARK: Time

    /// Holds the call.
    func run() throws {
        try host()
        try join(1)
        try startSongs()
        let end = now.advanced(bySeconds: Self.quietTime + Self.changeTime + Self.endTime)
        for _ in 0..<Self.changeCount {
            after(Self.quietTime + Self.changeTime * random.unit()) { [unowned self] in change() }
        }
        after(Self.quietTime + Self.changeTime * random.unit()) { [unowned self] in present.forEach { $0.addFace() } }
        observe()
        while let time = nextTime, time < end { step(to: time) }
        for peer in present { peer.observe() }
        for peer in departed + present { check(peer) }
        checkFormats()
    }

    /// Both people play their songs from the beginning; all hear that of person 1.
    private func startSongs() throws {
        for peer in present {
            var commands: [LiveCallCommand] = [
                .setAccompaniment(files: [songs.paths[peer.person]]), .controlAccompaniment(.play),
            ]
            if peer.person == 1 { commands.append(.controlAccompaniment(.setForAll(true))) }
            for command in commands {
                try peer.perform(command)
                expect(command, by: peer)
            }
        }
    }

    var nextTime: HostTime? {
        (present.map(\.nextCallTime) + [agenda.next].compactMap { $0 }).min()
    }

    func advance(to time: HostTime) { now = max(now, time) }

    func step(to time: HostTime) {
        advance(to: time)
        if let work = agenda.removeFirst(dueBy: now) { return work() }
        for peer in present where peer.nextCallTime <= now {
            peer.runCycle()
            peer.client.sendMedia(at: now) { send($0, from: peer, to: $1) }
            trace(peer)
        }
    }

    /// Notes the counters of all voices that a person hears.
    private func trace(_ listener: ChangedPeer) {
        for speaker in present where speaker !== listener {
            guard let statistics = listener.session.statistics(of: speaker.peerID) else { continue }
            let path = VoicePath(listener: listener.id, speaker: speaker.id)
            traces[path, default: VoiceTrace()].add(statistics, at: now)
        }
    }

    func after(_ seconds: Double, _ work: @escaping () -> Void) {
        agenda.add(now.advanced(bySeconds: seconds), work)
    }

    private func observe() {
        for peer in present {
            peer.observe()
            for other in present where other !== peer { countGap(of: other, heardBy: peer) }
        }
        after(Self.observationInterval) { [unowned self] in observe() }
    }

    private func countGap(of speaker: ChangedPeer, heardBy listener: ChangedPeer) {
        let count = listener.missingFrames(of: speaker)
        let new = count - (missingFrames[listener.person][speaker.id] ?? 0)
        missingFrames[listener.person][speaker.id] = count
        let rest = new - explainedFrames(of: new, speaker.person, heardBy: listener.person)
        guard rest > 0 else { return }
        gaps.append(
            Gap(
                time: now, path: VoicePath(listener: listener.id, speaker: speaker.id),
                text: "person \(listener.person) misses \(rest) frames of person \(speaker.person)", frameCount: rest,
                isDuringChange: isChanging(speaker.person, heardBy: listener.person)))
    }

    /// Sends a packet over the wired network: 1 to 3 ms, in order, without loss. Reports take 2 ms, since the seed does not
    /// determine their times.
    func send(_ packet: UnsafeRawBufferPointer, from peer: ChangedPeer, to id: PeerID) {
        guard let receiver = present.first(where: { $0.peerID == id }) else { return }
        var arrival = now.advanced(bySeconds: 0.002)
        if !(192...223).contains(packet[1]) {
            let link = 3 * peer.person + receiver.person
            let delay = 0.001 + 0.002 * linkDelays[link].unit()
            arrival = max(now.advanced(bySeconds: delay), lastArrivals[link].advanced(bySeconds: 1e-9))
            lastArrivals[link] = arrival
        }
        let (bytes, sender) = (Array(packet), peer.peerID)
        agenda.add(arrival) { [unowned self] in
            bytes.withUnsafeBytes { receiver.client.receive($0, from: sender, at: now) }
        }
    }

    // MARK: Changes

    /// Makes a random change.
    private func change() {
        while true {
            guard var kind = draw(from: kinds) else { return }
            if kind == .join || kind == .leave { kind = peers[Self.comingPerson] == nil ? .join : .leave }
            if kind == .join {
                guard roster?.members.count == 2 else { continue }
                changes.append(CallChange(kind: kind, time: now, person: Self.comingPerson, text: "join"))
                do { try join(Self.comingPerson) } catch { note("the third person cannot join: \(error)") }
                return
            }
            let person = kind == .leave ? peers[Self.comingPerson] : draw(from: present)
            guard let peer = person, let command = command(kind, by: peer) else { continue }
            changes.append(CallChange(kind: kind, time: now, person: peer.person, text: "\(command)"))
            do throws(CommandRefusal) {
                try peer.perform(command)
            } catch {
                note("\(command) is refused: \(error)")
            }
            expect(command, by: peer)
            if command == .leave { leave(peer) }
            return
        }
    }

    // MARK: Faces

    private func check(_ peer: ChangedPeer) {
        if let count = peer.session.voice?.lateFrameCount, count > 0 {
            note("voice processing is \(count) frames late")
        }
        for fault in peer.deviceFaults { note(fault) }
        for action in peer.unknownActions { note("person \(peer.person): not executed: \(action)") }
        let state = EventFace.State(peer.core.snapshot)
        for (index, face) in peer.faces.enumerated() {
            if face.state != state {
                note("face \(index) of person \(peer.person): \(face.state.differences(from: state))")
            }
            for setting in face.unknownSettings { note("a face does not know \(setting)") }
            if face.missedEvents > 0 {
                note("face \(index) of person \(peer.person) missed \(face.missedEvents) events")
            }
        }
    }
}
