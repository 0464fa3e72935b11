// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport

/// A complete call of two to eight peers on virtual time, in one thread, from a seed: the product's own code from microphone to
/// loudspeaker, on simulated sound cards and a simulated network. Each peer sends to all others. The id of a peer is its index.
///
/// ```swift
/// var simulation = try CallSimulation(CallSimulation.Configuration())
/// try simulation.run(until: 60)
/// print(simulation.report)
/// ```
/// The same configuration gives the same bytes on the network, in files and in the report. Memory does not grow with the length
/// of the call, unless sound or history is kept. For one thread at a time.
package struct CallSimulation {
    /// The number of peers in a call.
    package static let peerCounts = 2...8

    /// The configuration.
    package let configuration: Configuration
    /// The elapsed seconds of the call.
    package private(set) var elapsed = 0.0

    package let peers: [SimulatedPeer]
    /// The links by sender and receiver; those from a peer to itself are unused.
    package var links: [[SimulatedLink]]
    /// The scheduled changes of the simulation, each with its second of the call, in ascending order.
    package var events: [(at: Double, action: (inout CallSimulation) throws -> Void)] = []
    /// Returns the datagrams to send instead of a datagram, to simulate a peer that misbehaves; nil if all are sent unchanged.
    /// The value `elapsed` is the second of the call.
    package var datagramFilter: ((_ datagram: [UInt8], _ from: Int, _ to: Int, _ elapsed: Double) -> [[UInt8]])?
    /// True at the index of each peer that is in the call.
    package internal(set) var isIn: [Bool]
    /// The hash of everything sent, in order: FNV-1a over words of eight bytes (Fowler, Noll and Vo).
    package private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    /// The negotiated configurations: `negotiated[a][b]` is that of peer a for peer b, nil for itself.
    let negotiated: [[CallConfiguration?]]
    /// The traffic of each path when the measurements began; empty before.
    private(set) var linksBefore: [[SimulatedLink.Counts]] = []
    /// The measured network delays by sender and receiver.
    var networkDelays: [[SpreadMeter]]

    /// The beginning of the call.
    let start = HostTime(nanoseconds: 5_000_000_000)
    private let flights = FlightQueue()
    var random: SeededRandom
    private var protection: [[SRTPSession?]] = []
    private let buffer = ProtectionBuffer()

    /// - Throws: ``SimulationError``; `AudioDeviceError` if a card cannot be created; `NegotiationError` and `CodecError` if the
    ///   peers have no codec in common; `AudioFileError` if the output cannot be written.
    package init(_ configuration: Configuration) throws {
        let count = configuration.peers.count
        guard Self.peerCounts.contains(count) else { throw SimulationError.peerCount(count) }
        self.configuration = configuration
        var random = SeededRandom(seed: configuration.seed)
        let negotiated = try Self.negotiate(configuration)
        let link = SimulatedLink(configuration.network, seed: 0)
        links = (0..<count).map { _ in (0..<count).map { _ in link.reseeded(random.next()) } }
        networkDelays = (0..<count).map { _ in (0..<count).map { _ in SpreadMeter() } }
        isIn = Array(repeating: false, count: count)
        peers = try configuration.peers.enumerated().map { index, peer in
            let tape = try configuration.outputFolder.map {
                try PeerTape(
                    folder: $0, number: index + 1,
                    format: AudioFormat(sampleRate: peer.sampleRate, channelCount: configuration.channelCount))
            }
            guard let first = negotiated[index].compactMap(\.self).first else { throw SimulationError.peerCount(count) }
            return try SimulatedPeer(PeerID(index), peer, configuration, first, tape: tape)
        }
        self.negotiated = negotiated
        for (index, peer) in peers.enumerated() {
            // No two cards call at the same time.
            let offset = index == 0 ? 0 : 0.0031 * Double(index) + 0.002 * random.unit()
            peer.start(at: start.advanced(bySeconds: offset))
        }
        if configuration.isEncrypted { protection = try Self.protection(count, &random) }
        self.random = random
        for to in peers {
            for from in peers where from.id != to.id { to.measure(StreamMeter(from: from.id.rawValue, sender: from)) }
        }
        if !configuration.startsEmpty { for index in peers.indices { try enter(index) } }
    }

    /// Runs the call until this second.
    /// - Throws: the error of an encoder, an input or an output.
    package mutating func run(until seconds: Double) throws {
        let end = start.advanced(bySeconds: seconds)
        while true {
            var next = HostTime(nanoseconds: flights.nextArrival)
            for peer in peers { next = min(next, peer.nextTime) }
            if let event = events.first { next = min(next, start.advanced(bySeconds: event.at)) }
            if next > end { break }
            elapsed = max(elapsed, next.seconds(since: start))
            try step(at: max(next, now))
        }
        elapsed = max(elapsed, seconds)
    }

    /// Completes the files in the output folder. The simulation cannot run afterwards.
    package func close() throws(AudioFileError) { for peer in peers { try peer.tape?.close() } }

    /// The maximum datagrams in flight at once so far.
    var datagramSlots: Int { flights.slotCount }
    var now: HostTime { start.advanced(bySeconds: elapsed) }

    private mutating func step(at now: HostTime) throws {
        if linksBefore.isEmpty, elapsed >= configuration.measuresFrom { beginMeasuring() }
        while let event = events.first, start.advanced(bySeconds: event.at) <= now {
            events.removeFirst()
            try event.action(&self)
        }
        while let arrival = flights.next(by: now.nanoseconds) {
            deliver(arrival, at: now)
            flights.recycle(arrival)
        }
        for index in peers.indices {
            let peer = peers[index]
            if peer.nextCallTime <= now { try peer.runCycle(at: now, elapsed: elapsed) }
            if peer.hasMedia(at: now) {
                try peer.runMedia(at: now, elapsed: elapsed) { send($0, from: index, to: $1.rawValue, at: now) }
            }
        }
    }

    private mutating func beginMeasuring() {
        linksBefore = links.map { $0.map(\.counts) }
        for peer in peers { peer.beginMeasuring(at: elapsed) }
    }

    // MARK: Network

    mutating func send(_ datagram: UnsafeRawBufferPointer, from: Int, to: Int, at now: HostTime) {
        guard let datagramFilter else { return sendUnfiltered(datagram, from: from, to: to, at: now) }
        for replacement in datagramFilter(Array(datagram), from, to, elapsed) {
            replacement.withUnsafeBytes { sendUnfiltered($0, from: from, to: to, at: now) }
        }
    }

    private mutating func sendUnfiltered(_ datagram: UnsafeRawBufferPointer, from: Int, to: Int, at now: HostTime) {
        var datagram = datagram
        let isMedia = datagram.count > 1 && !(192...223).contains(datagram[1])
        if isMedia, datagram[0] & 0x10 != 0 { links[from][to].counts.sendTimeBytes += SendTimeExtension.size }
        if !protection.isEmpty {
            guard let protected = buffer.protect(datagram, by: protection[from][to]) else { return }
            datagram = protected
        }
        digest = Self.digest(datagram, on: digest)
        let fate = links[from][to].send(
            byteCount: datagram.count, isMedia: isMedia, at: now.nanoseconds - start.nanoseconds)
        if let arrival = fate.arrival {
            if isMedia, !linksBefore.isEmpty {
                networkDelays[from][to].add(Double(arrival + start.nanoseconds - now.nanoseconds) * 1e-9)
            }
            flights.insert(datagram, from: from, to: to, at: arrival + start.nanoseconds)
        }
        if let copy = fate.copy { flights.insert(datagram, from: from, to: to, at: copy + start.nanoseconds) }
    }

    private func deliver(_ arrival: Flights.IncomingTransfer, at now: HostTime) {
        var count = arrival.bytes.count
        if !protection.isEmpty {
            guard let opened = try? protection[arrival.to][arrival.from]?.unprotect(arrival.bytes, count: count) else {
                return  // a duplicate, which SRTP rejects
            }
            count = opened
        }
        peers[arrival.to].receive(
            UnsafeRawBufferPointer(rebasing: arrival.bytes[..<count]), from: PeerID(arrival.from), at: now,
            elapsed: elapsed)
    }

    private static func digest(_ datagram: UnsafeRawBufferPointer, on before: UInt64) -> UInt64 {
        var hash = before
        var offset = 0
        while offset + 8 <= datagram.count {
            hash = (hash ^ UInt64(littleEndian: datagram.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            hash = hash &* 0x100_0000_01B3
            offset += 8
        }
        while offset < datagram.count {
            hash = (hash ^ UInt64(datagram[offset])) &* 0x100_0000_01B3
            offset += 1
        }
        return hash
    }
}
