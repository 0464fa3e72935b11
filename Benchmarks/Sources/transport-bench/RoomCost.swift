// SPDX-License-Identifier: Apache-2.0

import BenchReports
import Foundation
import PairedTimes

@testable import EarshotAudioBase
@testable import EarshotAudioCodecs
@testable import EarshotAudioDevices
@testable import EarshotCall
@testable import EarshotMediaTransport

/// The complete cost of a peer in a room of eight: a simulated card in real time, capture, Opus of 10 ms, a port with seven
/// transports, seven voices played. All eight are in this process, on loopback, and all speak.
final class RoomCost {
    private static let count = 8
    private static let warmUp = 2.0
    private let window: Double
    private let windows: Int
    private var sessions: [CallSession] = []
    private var ports: [MediaPort] = []
    private var sources: [AudioRing] = []

    /// - Parameter seconds: the duration of one of the three measurements.
    init(seconds: Double) throws {
        window = seconds
        windows = 3
        let identities = try (0..<Self.count).map { _ in try Identity.generate(at: PortPair.date) }
        for end in 0..<Self.count {
            let frames = Int((Self.warmUp + 4 + window * Double(windows)) * 48_000)
            let source = AudioRing(channelCount: 1, capacity: frames)
            let sound = AudioBuffer(channelCount: 1, frameCapacity: frames)
            for i in 0..<frames {
                sound.channels[0][i] = i < 96_000 ? Self.voice(end, i) : sound.channels[0][i - 96_000]
            }
            source.writer.write(sound.channels, frameCount: frames)
            sources.append(source)
            let device = try SimulatedDevice(
                SimulatedCard.Configuration(
                    sampleRate: 48_000, blockFrameCount: 256, inputChannelCount: 1, outputChannelCount: 1,
                    source: source))
            let session = CallSession(
                CallPreferences(codec: .opus, opusFrameMilliseconds: 10, deviceRate: 48_000, deviceBlock: 256),
                device: device, cname: "end \(end)")
            let port = try MediaPort(identity: identities[end], address: .loopback, port: 0, client: session.client)
            guard port.start() else { throw NoSession() }
            sessions.append(session)
            ports.append(port)
        }
        var generator = SystemRandomNumberGenerator()
        for a in 0..<Self.count {
            for b in (a + 1)..<Self.count { try connect(b, a, identities, &generator) }
        }
    }

    /// The greater number offers.
    private func connect(
        _ offerer: Int, _ answerer: Int, _ identities: [Identity], _ generator: inout SystemRandomNumberGenerator
    ) throws {
        let credentials = (0..<2).map { _ in ICECredentials.random(using: &generator) }
        func remote(_ end: Int, _ credentials: ICECredentials, _ role: DTLSRole) -> RemoteTransportParameters {
            RemoteTransportParameters(
                credentials: credentials,
                candidates: ICECandidate.hosts([.loopback], port: ports[end].localAddress.port),
                certificate: identities[end].certificateFingerprint, dtlsRole: role)
        }
        ports[offerer].add(PeerID(answerer), LocalTransportParameters(role: .controlling, credentials: credentials[0]))
        ports[answerer].add(PeerID(offerer), LocalTransportParameters(role: .controlled, credentials: credentials[1]))
        let offer = try sessions[offerer].offer(to: PeerID(answerer))
        let answer = try sessions[answerer].answer(offer, from: PeerID(offerer))
        try sessions[offerer].accept(answer, from: PeerID(answerer))
        ports[answerer].setRemote(remote(offerer, credentials[0], .client), of: PeerID(offerer))
        ports[offerer].setRemote(remote(answerer, credentials[1], .server), of: PeerID(answerer))
    }

    func reports() throws -> [Report] {
        for session in sessions { try session.start() }
        defer {
            for session in sessions { session.stop() }
            for port in ports { port.stop() }
        }
        usleep(UInt32(Self.warmUp * 1e6))
        let expected = Self.count * (Self.count - 1)
        let playing = sessions.flatMap { $0.statistics.values }.count { $0.playout.isStarted }
        guard playing == expected else { throw NotAll(playing: playing, expected: expected) }
        var shares: [Double] = []
        var (media, cards) = (0.0, 0.0)
        for _ in 0..<windows {
            let before = (HostTime.now(), Cost.seconds(RUSAGE_SELF), Self.threads())
            usleep(UInt32(window * 1e6))
            let seconds = HostTime.now().seconds(since: before.0)
            let after = Self.threads()
            shares.append((Cost.seconds(RUSAGE_SELF) - before.1) / seconds / Double(Self.count) * 100)
            media += (after.media - before.2.media) / seconds / Double(Self.count * windows) * 100
            cards += (after.cards - before.2.cards) / seconds / Double(Self.count * windows) * 100
        }
        let concealed = sessions.flatMap { $0.statistics.values }.reduce(0) { $0 + $1.playout.missingPackets }
        let codec = try Self.codecShare()
        return [
            Report(
                "a peer of eight on Opus of 10 ms, of a core", median(shares), least: shares.min(),
                // The limit is for a machine at its usual speed, on which Opus alone takes 2.6 %.
                excuse: codec > 2.75 ? "at this machine's pace now Opus alone takes \(decimal(codec, 2)) %" : nil, "%",
                .atMost(6),
                against: """
                    Opus alone, one encoder and seven decoders: \(decimal(codec, 2)) %; the port's thread, which encodes, \
                    \(decimal(media, 2)) %, the card's, which decodes, \(decimal(cards, 2)) %; all speak
                    """),
            Report(
                "packets that did not come in the room of eight", Double(concealed), "",
                against: "\(expected) streams of 100 packets a second"),
        ]
    }

    private struct NotAll: Error, CustomStringConvertible {
        let playing: Int
        let expected: Int
        var description: String { "of \(expected) voices in the room \(playing) are heard" }
    }

    /// Returns the seconds of processor time of the ports' and of the cards' threads.
    private static func threads() -> (media: Double, cards: Double) {
        var times = (media: 0.0, cards: 0.0)
        let tick = 1 / Double(sysconf(Int32(_SC_CLK_TCK)))
        for task in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? [] {
            guard let stat = try? String(contentsOfFile: "/proc/self/task/\(task)/stat", encoding: .utf8),
                let end = stat.lastIndex(of: ")")
            else { continue }
            let words = stat[end...].split(separator: " ")
            guard words.count > 13, let user = Double(words[12]), let system = Double(words[13]) else { continue }
            if stat.contains("(media)") { times.media += (user + system) * tick }
            if stat.contains("(simulated-card)") { times.cards += (user + system) * tick }
        }
        return times
    }

    /// Returns the percentage of a core that the codec alone takes, in this process, at the same bit rate.
    private static func codecShare() throws -> Double {
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: .milliseconds10, bitRate: 64_000)
        let decoder = try OpusDecoder(channelCount: 1)
        let frames = OpusFrameDuration.milliseconds10.frameCount
        let sound = AudioBuffer(channelCount: 1, frameCapacity: 48_000)
        let out = AudioBuffer(channelCount: 1, frameCapacity: frames)
        for i in 0..<48_000 { sound.channels[0][i] = voice(0, i) }
        let packet = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 16)
        defer { packet.deallocate() }
        let cost = try Cost {
            for n in 0..<100 {
                let count = try encoder.encode(sound.channels, offset: n * frames, into: packet)
                for _ in 0..<7 {
                    _ = decoder.renderer.decode(
                        packet.baseAddress!.assumingMemoryBound(to: UInt8.self), byteCount: count, into: out.channels,
                        offset: 0, frameCount: frames)
                }
            }
        }
        return cost.processor * 100
    }

    /// A voice-like sound: a fundamental with vibrato, its harmonics, syllables.
    private static func voice(_ end: Int, _ frame: Int) -> Float {
        let time = Double(frame) / 48_000
        let pitch = 110.0 + 17 * Double(end)
        let phase = 2 * Double.pi * (pitch * time + 0.6 * sin(2 * Double.pi * 1.3 * time))
        var sum = 0.0
        for harmonic in 1...8 { sum += sin(phase * Double(harmonic)) / Double(harmonic) }
        return Float(0.1 * sum * (0.55 + 0.45 * sin(2 * Double.pi * 3.7 * time + Double(end))))
    }
}
