// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Makes a stream's decisions, without socket, thread or clock. It is given the server's data and the time; it returns actions,
/// states and titles, and writes frames to a ring. For one thread at a time.
struct StreamCore {
    /// An action on the network.
    enum Action: Equatable {
        /// Request the address from this byte on.
        case connect(StreamAddress, offset: Int)
        case disconnect
    }

    enum Phase: Equatable {
        case stopped, connecting, receiving
        case waiting(until: HostTime, seconds: Double)
        /// The live stream is disconnected, since the client has paused for long.
        case suspended
        /// All data has been received; the buffered sound still plays.
        case draining
        /// The stream has ended, has failed or was stopped.
        case over
    }

    private enum Content: Equatable {
        case unknown, sound
        case playlist([UInt8])
    }

    private(set) var state = AudioStreamState.stopped
    var statistics = AudioStreamStatistics()
    var actions: [Action] = []
    private var states: [AudioStreamState] = []
    var phase = Phase.stopped
    private(set) var address: StreamAddress
    private var alternatives: [StreamAddress] = []
    private var playlistDepth = 0  // playlists followed: one may name another
    var attempt = 0  // failures in a row since the last good connection
    private var reason = ""
    private var lastByteTime = HostTime(nanoseconds: 0)
    private var head: HTTPHead?
    /// The latest response that began with the sound's first byte, not after a break; nil before.
    private(set) var file: HTTPHead?
    private var icy = ICYParser(interval: 0)
    private var content = Content.unknown
    private var prefix: [UInt8] = []  // first bytes of a response, until its kind is known
    private var prefixTitles: [ICYParser.Title] = []
    var received = 0  // byte offset in a file at which the next connection continues
    private var bytesToSkip = 0  // received by an earlier connection
    private var framesAtConnection = 0
    var hasDrained = false  // all decoded frames are in the ring
    var wasOpen = false  // `playout.isOpen` at the last tick
    /// A seek that has not begun, with the number by which the playout identifies it.
    var goal: (frame: Int, number: Int)?
    var corrections = 0  // of the last seek's byte offset
    var refusals: [AudioStreamError] = []
    /// The reads by the render side, and the time of the last change.
    var attention = (pulls: 0, since: HostTime(nanoseconds: 0))
    private var random: any RandomNumberGenerator & Sendable
    private let options: AudioStreamOptions
    let format: AudioFormat
    let playout: StreamPlayout
    let decoder: StreamDecoder
    private static let maximumPlaylistDepth = 3

    /// - Parameter random: the generator for random delays.
    init(
        _ address: StreamAddress, format: AudioFormat, playout: StreamPlayout, options: AudioStreamOptions,
        random: any RandomNumberGenerator & Sendable
    ) {
        self.address = address
        self.format = format
        self.playout = playout
        self.options = options
        self.random = random
        decoder = StreamDecoder(format: format, ring: playout.ring)
    }

    /// True if actions are pending. Then the current transfer's further data is ignored.
    var hasActions: Bool { !actions.isEmpty }

    /// True if the core accepts bytes now.
    var wantsBytes: Bool { decoder.isIdle }

    /// The server's description of the sound; nil until a response has turned out to be sound.
    var source: AudioStreamSource? {
        guard content == .sound, let head else { return nil }
        let name = head.fields["icy-name"].flatMap { $0.isEmpty ? nil : $0 }
        return AudioStreamSource(
            isLive: head.isLive, station: name, isSeekable: file?.isSeekable == true,
            frameCount: head.isLive ? nil : decoder.frameCount)
    }

    /// Returns the pending actions, once.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Returns the states since the last call.
    mutating func takeStates() -> [AudioStreamState] {
        defer { states = [] }
        return states
    }

    /// Returns the titles since the last call.
    mutating func takeTitles() -> [AudioStreamTitle] {
        defer { decoder.titles = [] }
        return decoder.titles
    }

    /// Returns the errors of refused seeks since the last call.
    mutating func takeRefusals() -> [AudioStreamError] {
        defer { refusals = [] }
        return refusals
    }

    mutating func start(at time: HostTime) {
        attention.since = time
        enter(.buffering)
        connect(at: time)
    }

    mutating func stop() {
        actions.append(.disconnect)
        phase = .over
        playout.isOpen = false
        enter(.stopped)
    }

    mutating func connect(at time: HostTime) {
        phase = .connecting
        lastByteTime = time
        head = nil
        framesAtConnection = decoder.framesWritten
        if received == 0 {
            decoder.renew()
            content = .unknown
            prefix = []
            prefixTitles = []
        }
        actions.append(.connect(address, offset: received))
    }

    /// Handles the server's response head, after all redirects.
    mutating func receive(_ head: HTTPHead, at time: HostTime) {
        guard phase == .connecting else { return }
        lastByteTime = time
        switch head.status {
        case 200...299:
            phase = .receiving
            self.head = head
            icy = ICYParser(interval: head.metadataInterval)
            bytesToSkip = received - (head.status == 206 ? head.firstByte ?? received : 0)
            guard bytesToSkip < 0 else { break }
            actions.append(.disconnect)
            lose("the server sends another part than it was asked for", at: time)
        case 408, 429, 500...599:
            actions.append(.disconnect)
            lose("the server answers \(head.status)", at: time)
        default:
            actions.append(.disconnect)
            fail(.refused(status: head.status, address: address.description), at: time)
        }
    }

    /// Handles bytes of the response.
    /// - Returns: false if the caller must pass the same bytes again later.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, at time: HostTime) -> Bool {
        guard phase == .receiving else { return true }
        guard decoder.isIdle else { return false }
        lastByteTime = time
        let skipped = min(bytesToSkip, bytes.count)
        bytesToSkip -= skipped
        var sound: [UInt8] = []
        let titles = icy.parse(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(skipped)), into: &sound)
        statistics.bytesReceived += sound.count
        if head?.isResumable == true { received += sound.count }
        switch content {
        case .sound: decode(sound, titles, at: time)
        case .unknown:
            prefix += sound
            prefixTitles += titles
            if prefix.count >= StreamContent.prefixLength { begin(at: time) }
        case .playlist(let list):
            content = .playlist(list + sound)
            if list.count + sound.count > StreamPlaylist.maximumLength {
                actions.append(.disconnect)
                fail(.badPlaylist(address: address.description, reason: "a playlist without end"), at: time)
            }
        }
        return true
    }

    /// Determines from the first bytes whether the response is sound or a playlist, and decodes sound.
    private mutating func begin(at time: HostTime) {
        switch StreamContent(prefix: prefix) {
        case .m3u, .pls: content = .playlist(prefix)
        default:
            content = .sound
            file = head
            decode(prefix, prefixTitles, at: time)
        }
        prefix = []
        prefixTitles = []
    }

    private mutating func decode(_ sound: [UInt8], _ titles: [ICYParser.Title], at time: HostTime) {
        do {
            try decoder.enqueue(sound, titles: titles)
        } catch {
            actions.append(.disconnect)
            return handleParserError(error, at: time)
        }
        correct(at: time)
    }

    /// Handles bytes that cannot be parsed: if sound came before, connects again from the beginning; otherwise the stream fails.
    private mutating func handleParserError(_ error: StreamParserError, at time: HostTime) {
        received = 0
        if decoder.framesWritten > 0 {
            lose(error.description, at: time)
        } else {
            fail(.notAudio(address: address.description, reason: error), at: time)
        }
    }

    /// Handles the end of the transfer.
    mutating func end(_ ending: HTTPEnding, at time: HostTime) {
        guard actions.isEmpty else { return }  // the transfer is to be closed anyway
        conclude(ending, at: time)
    }

    private mutating func conclude(_ ending: HTTPEnding, at time: HostTime) {
        guard phase == .connecting || phase == .receiving else { return }
        switch ending {
        case .failed(let error): fail(error, at: time)
        case .broken(let reason):
            if received == 0 {
                try? decoder.finish()
                content = .unknown
            }
            lose(reason, at: time)
        case .complete: complete(at: time)
        }
    }

    /// The address of the current playlist after redirects, to resolve its entries. If at most user name, password, query or
    /// fragment differ, it is the requested address, which may contain them.
    private var playlistAddress: StreamAddress {
        guard let found = head.flatMap({ try? StreamAddress($0.address) }), found.description != address.description
        else { return address }
        return found
    }

    private mutating func complete(at time: HostTime) {
        if content == .unknown, !prefix.isEmpty { begin(at: time) }
        guard phase == .connecting || phase == .receiving else { return }
        switch content {
        case .unknown: lose("the server sent nothing", at: time)
        case .playlist(let list):
            content = .unknown
            received = 0
            do {
                guard playlistDepth < Self.maximumPlaylistDepth else {
                    throw AudioStreamError.badPlaylist(
                        address: address.description, reason: "playlists that name each other")
                }
                let base = playlistAddress
                var entries = try StreamPlaylist.entries(list, from: base)
                if base.isSecure, !options.allowsDowngrade {
                    entries.removeAll { !$0.isSecure }
                    if entries.isEmpty { throw AudioStreamError.redirectRefused(address: address.description) }
                }
                playlistDepth += 1
                address = entries.removeFirst()
                alternatives = entries
                connect(at: time)
            } catch {
                fail(
                    error as? AudioStreamError
                        ?? .badPlaylist(address: address.description, reason: "\(error)"), at: time)
            }
        case .sound:
            do {
                try decoder.finish()
            } catch {
                return handleParserError(error, at: time)
            }
            let before = corrections
            correct(at: time)
            guard corrections == before else { return }
            if head?.isLive == true { return lose("the station ended the connection", at: time) }
            phase = .draining
        }
    }

    private mutating func lose(_ reason: String, at time: HostTime) {
        attempt += 1
        self.reason = reason
        let chance = Double(random.next() >> 11) / Double(1 << 53)
        guard
            let delay = options.reconnection.delay(
                attempt: attempt, hasPlayed: decoder.framesWritten > 0, chance: chance)
        else { return fail(.unreachable(address: address.description, reason: reason), at: time) }
        phase = .waiting(until: time.advanced(bySeconds: delay), seconds: delay)
        enter(.reconnecting(attempt: attempt, in: delay))
    }

    mutating func fail(_ error: AudioStreamError, at time: HostTime) {
        if !alternatives.isEmpty, decoder.framesWritten == 0 {
            decoder.reset()
            address = alternatives.removeFirst()
            attempt = 0
            received = 0
            return connect(at: time)
        }
        phase = .over
        enter(.failed(error))
    }

    mutating func enter(_ new: AudioStreamState) {
        guard new != state else { return }
        state = new
        states.append(new)
    }

    /// Decodes as much as there is room for, and checks the time limits. Call it at least every tenth of a second.
    mutating func tick(at time: HostTime) {
        suspendIfPaused(at: time)
        guard phase != .over, phase != .stopped, phase != .suspended else { return }
        do {
            try decoder.work()
        } catch {
            actions.append(.disconnect)
            return fail(.codec(error), at: time)
        }
        goAbout(at: time)
        playout.shift = decoder.shift
        statistics.framesDecoded = decoder.framesWritten
        statistics.packetsConcealed = decoder.packetsConcealed
        statistics.bytesSkipped = decoder.bytesSkipped
        if Double(decoder.framesWritten - framesAtConnection) >= options.reconnection.goodAfter * format.sampleRate {
            attempt = 0
        }
        checkTimeouts(at: time)
        if phase != .over { show() }
    }

    private mutating func checkTimeouts(at time: HostTime) {
        switch phase {
        case .connecting, .receiving:
            if !decoder.isIdle { lastByteTime = time }
            if time.seconds(since: lastByteTime) > options.stallTimeout {
                actions.append(.disconnect)
                conclude(.broken(reason: "nothing came for \(Int(options.stallTimeout)) s"), at: time)
            }
        case .waiting(let until, _):
            if until <= time {
                statistics.reconnections += 1
                connect(at: time)
            }
        case .draining: if !hasDrained, decoder.isIdle { finish() }
        case .suspended, .stopped, .over: break
        }
    }

    private mutating func finish() {
        hasDrained = decoder.drain()
        if hasDrained { playout.isComplete = true }
    }

    /// Lets the render thread play once enough is buffered, and updates the state.
    private mutating func show() {
        let bufferedFrames = playout.heldFrames
        let isOpen = playout.isOpen
        if wasOpen, !isOpen, !(hasDrained && bufferedFrames == 0) { statistics.stalls += 1 }
        wasOpen = isOpen
        let framesToBuffer = min(Int(options.prebuffer * format.sampleRate), playout.ring.capacity / 2)
        if hasDrained, bufferedFrames == 0 {
            phase = .over
            return enter(.ended)
        }
        if !isOpen, bufferedFrames >= max(1, framesToBuffer) || hasDrained {
            playout.isOpen = true
            wasOpen = true
        }
        if case .waiting = phase { return }
        enter(wasOpen ? .playing : .buffering)
    }
}
