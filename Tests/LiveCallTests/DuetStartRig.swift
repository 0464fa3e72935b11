// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotRooms
import Foundation

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotSimulation

/// Two singers in a whole call on virtual time: machines whose clocks and cards differ, the clocks that their media give, the
/// duet's messages, and the song's players.
final class DuetStartRig {
    static let rateLimit = 100.0  // ppm

    var simulation: CallSimulation
    var duets: [LiveDuet] = []
    /// The seconds from each singer's mouth to the other's ear.
    var delay = 0.01
    private var messages: [(at: Double, to: Int, bytes: [UInt8])] = []
    private var random: SeededRandom
    private let song: DuetSong
    private let arrival: Double
    private let sleep: Range<Double>

    /// - Parameter songPath: the song of ``SungCallRig/writeSong()``.
    convenience init(seed: UInt64, network: NetworkProfile, songPath: String) throws {
        let song = try SongFile.describe(songPath)
        try self.init(seed: seed, network: network, song) {
            try SongPlayer(path: songPath, countIn: song.countIn, channelCount: 1, deviceRate: 48_000)
        }
    }

    /// - Parameters:
    ///   - arrival: the second at which the second singer enters the call; nil if both are there from the start.
    ///   - sleep: the seconds in which the second singer's machine sleeps.
    init(
        seed: UInt64, network: NetworkProfile, _ song: DuetSong, arrival: Double? = nil, sleep: Range<Double> = 0..<0,
        makePlayer: () throws -> SongPlayer
    ) throws {
        (self.arrival, self.sleep) = (arrival ?? 0, sleep)
        var random = SeededRandom(seed: seed)
        var configuration = CallSimulation.Configuration()
        configuration.codec = .pcm
        configuration.network = network
        configuration.seed = seed
        configuration.latencyProfile = .sing
        for peer in 0..<2 {
            configuration.peers[peer].hostClock = PeerHostClock(
                offset: 1e6 * random.unit(), ppm: 100 * random.unit() - 50)
            configuration.peers[peer].driftPPM = Self.rateLimit * (2 * random.unit() - 1)
            configuration.peers[peer].blockFrameCount = [64, 128, 256][Int(3 * random.unit())]
        }
        configuration.startsEmpty = arrival != nil
        if !sleep.isEmpty {
            let start = HostTime(nanoseconds: 5_000_000_000)  // of the call
            configuration.peers[1].hostClock.sleep =
                start.advanced(bySeconds: sleep.lowerBound)..<start.advanced(bySeconds: sleep.upperBound)
        }
        simulation = try CallSimulation(configuration)
        self.song = song
        self.random = random
        for (index, peer) in simulation.peers.enumerated() {
            let player = try makePlayer()
            peer.processor.scheduledSong.set(CallInsert(callback: player.memory.callback, owner: player.memory))
            var duet = LiveDuet()
            duet.player = player
            duet.core = DuetCore(own: CoreRig.id(UInt64(index + 1)), singer: UInt64(index + 1))
            duets.append(duet)
        }
        if let arrival {
            try simulation.enter(0)
            simulation.events = [(at: arrival, action: { try $0.enter(1) })]
        }
        if !sleep.isEmpty {
            simulation.datagramFilter = { datagram, _, _, elapsed in sleep.contains(elapsed) ? [] : [datagram] }
            simulation.events.append((at: sleep.upperBound, action: { $0.peers[1].core.slept() }))
        }
        setMembers()
        try duets[0].core?.choose(song, at: .now())
    }

    private func setMembers() {
        let isAlone = simulation.elapsed < arrival
        for index in 0..<(isAlone ? 1 : 2) {
            duets[index].core?.setMembers(
                isAlone ? [CoreRig.id(1)] : [CoreRig.id(1), CoreRig.id(2)], host: CoreRig.id(1))
        }
    }

    /// Plays the song at the first singer alone from now on, as after the others have left.
    func playAlone() throws {
        try duets[0].core?.agree()
        _ = duets[0].core?.tick(at: local(0))
        guard let time = duets[0].core?.group.groupTime(at: local(0))?.time else { return }
        duets[0].core?.transport.leader = DuetTransport.noLeader
        duets[0].core?.change(to: .playing, position: 0, at: time)
    }

    /// Returns the seconds between both loudspeakers at the first moment from a second of the call on at which both are heard, or
    /// 3 s later. A machine that woke is heard once it plays where the others are.
    func difference(from second: Double) throws -> Double? {
        var found: Double?
        try run(until: second)
        while simulation.elapsed < second + 3 {
            found = difference.map(abs)
            if let found, found < 0.05 { break }
            try run(until: simulation.elapsed + 0.05)
        }
        return found
    }

    /// Returns the seconds from now until both are heard in place, in steps of 0.05 s, or nil after 3 s.
    func timeUntilTogether() throws -> Double? {
        let start = simulation.elapsed
        while simulation.elapsed < start + 3 {
            try run(until: simulation.elapsed + 0.05)
            if let found = difference, abs(found) < 0.05 { return simulation.elapsed - start }
        }
        return nil
    }

    func local(_ index: Int) -> HostTime { simulation.peers[index].hostClock.hostTime(at: simulation.now) }

    /// Runs the call, with a turn of each singer's call every 50 ms.
    func run(until seconds: Double, _ check: (DuetStartRig) -> Void = { _ in }) throws {
        while simulation.elapsed < seconds {
            let before = simulation.elapsed
            try simulation.run(until: min(seconds, simulation.elapsed + 0.05))
            if before < arrival, simulation.elapsed >= arrival { setMembers() }
            if sleep.contains(before), !sleep.contains(simulation.elapsed) { duets[1].core?.slept() }
            for message in messages where message.at <= simulation.elapsed && (message.to == 0 || isAwake) {
                duets[message.to].core?.receive(
                    message.bytes, from: CoreRig.id(UInt64(2 - message.to)), at: local(message.to))
            }
            messages.removeAll { $0.at <= simulation.elapsed }
            if arrival > 0, isAwake, duets[1].core?.song != nil, duets[1].core?.agreement == nil {
                try duets[1].core?.agree()
            }
            for index in duets.indices where index == 0 || isAwake { turn(index) }
            check(self)
        }
    }

    /// True while the second singer's machine is in the call and does not sleep.
    private var isAwake: Bool { simulation.elapsed >= arrival && !sleep.contains(simulation.elapsed) }

    private func turn(_ index: Int) {
        let now = local(index)
        duets[index].core?.setClock(
            simulation.peers[index].statistics.clock?.clock, of: CoreRig.id(UInt64(2 - index)))
        duets[index].core?.setDelay(delay, of: CoreRig.id(UInt64(2 - index)))
        for action in duets[index].core?.tick(at: now) ?? [] {
            switch action {
            case .send(let bytes):
                guard random.unit() > 0.02 else { continue }
                messages.append((simulation.elapsed + 0.002 + 0.03 * random.unit(), 1 - index, bytes))
            case .sendSong: duets[1].core?.setPresentSong(song.hash)
            case .play(let position, let time): duets[index].play(from: position, at: time)
            case .moveStart(let time): duets[index].player?.moveStart(to: time)
            case .pause(let time): duets[index].player?.pause(at: time)
            case .setSong, .sendGuide, .record, .awaitVoice, .finishRecording, .playMix: break
            }
        }
        _ = duets[index].player?.work()
        duets[index].followTime(at: now)
    }

    /// The seconds by which the second singer's song is behind the first one's; nil unless both are heard.
    var difference: Double? {
        let places = duets.indices.compactMap { index -> Double? in
            guard let player = duets[index].player, player.state.isPlaying else { return nil }
            let heard = simulation.peers[index].hostClock.virtualTime(of: player.state.hostTime)
            return player.state.position.frames / player.sampleRate - heard.seconds(since: simulation.start)
        }
        return places.count == 2 ? places[0] - places[1] : nil
    }
}
