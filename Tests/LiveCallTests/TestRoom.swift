// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotPlayout
import EarshotRooms
import Foundation

@testable import EarshotLiveCall

/// A room without a network. It records its requests.
final class TestRoom: LiveCallRoom {
    let events: AsyncStream<NearbyEvent>
    let eventContinuation: AsyncStream<NearbyEvent>.Continuation
    let datagrams: AsyncStream<NearbyDatagram>
    let datagramContinuation: AsyncStream<NearbyDatagram>.Continuation
    let arrivals = Mailbox<IncomingTransfer>(capacity: 32)
    let fingerprint = CoreRig.key(1)
    let port: UInt16 = 47_400
    private let notes = LockedValue<[String]>([])
    /// The messages that were sent, to whomever.
    let sentDatagrams = LockedValue<[[UInt8]]>([])
    /// The seconds that ``close(endsRoom:)`` takes.
    private let closingTime: Double
    private let volumes: PeerVolumes
    private let storage = LockedValue<[PeerVolumes.Entry]>([])

    init(closingTime: Double = 0, volumes: PeerVolumes = PeerVolumes()) {
        self.closingTime = closingTime
        self.volumes = volumes
        (events, eventContinuation) = AsyncStream.makeStream()
        (datagrams, datagramContinuation) = AsyncStream.makeStream()
    }

    var asked: [String] { notes.withLock { $0 } }
    private func note(_ text: String) { notes.withLock { $0.append(text) } }

    func host(
        _ room: PeerName, policy: AdmissionPolicy, pin: PIN?, capacity: Int, isAdvertised: Bool
    ) async throws(NearbyError) { note("host") }
    func join(_ endpoint: Endpoint, pin: PIN?, purpose: Purpose?) async throws(NearbyError) {
        note(pin == nil ? "join" : "join with PIN")
    }
    func provide(_ pin: PIN) async { note("provide") }
    func decide(_ ask: JoinRequestID, isWelcome: Bool) async { note(isWelcome ? "admit" : "decline") }
    func block(_ ask: JoinRequestID) async { note("block request") }
    func remove(_ member: MemberID) async { note("remove") }
    func block(_ member: MemberID) async { note("block") }
    func setPolicy(_ policy: AdmissionPolicy) async { note("admission") }
    func update(name: PeerName?, isMuted: Bool?, isRecording: Bool?, allowsRecording: Bool?) async {
        let values = [isMuted.map { "muted \($0)" }, isRecording.map { "recording \($0)" }]
        note(
            (["tell", name?.text] + values + [allowsRecording.map { "allowed \($0)" }]).compactMap(\.self)
                .joined(separator: " "))
    }
    var joinCodes: [JoinCode] { get async { [] } }
    var rememberedVolumes: PeerVolumes { get async { volumes } }
    /// The volumes that were stored.
    var storedVolumes: [PeerVolumes.Entry] { storage.withLock { $0 } }
    func storeVolumes(_ volumes: [PeerVolumes.Entry]) async { storage.withLock { $0 += volumes } }
    func announceSong(_ title: String?, freePart: Int?) async {
        note("song \(title ?? "none")\(freePart.map { ", part \($0) free" } ?? "")")
    }
    func renegotiate(_ member: MemberID) async { note("renegotiate \(member.number)") }
    func report(of member: MemberID) -> MediaPortReport? { nil }
    func sendDatagram(_ bytes: [UInt8], to member: MemberID) { sentDatagrams.withLock { $0.append(bytes) } }
    func send(_ bytes: [UInt8], to members: [MemberID]) async throws(TransferFailure) { note("send") }
    func sendFile(at path: String, to members: [MemberID]) async throws(TransferError) -> OutgoingFile {
        throw .noSuchFile(path)
    }
    func close(endsRoom: Bool) async {
        if closingTime > 0 { try? await Task.sleep(for: .seconds(closingTime)) }
        note("close")
        arrivals.finish()
        eventContinuation.finish()
        datagramContinuation.finish()
    }
}

/// Media that record their requests and may fail to start.
final class TestMedia: LiveCallMedia {
    private let notes = LockedValue<[String]>([])
    private let insert = LockedValue<CallInsert?>(nil)
    private let error: AudioDeviceError?

    init(failing error: AudioDeviceError? = nil) { self.error = error }

    var asked: [String] { notes.withLock { $0 } }
    private func note(_ text: String) { notes.withLock { $0.append(text) } }

    var voice: CallVoice? { nil }
    var channelCount: Int { 1 }
    var voiceFormat: AudioFormat { AudioFormat(sampleRate: 48_000, channelCount: 1) }
    /// The effects that were set last.
    var effects: CallInsert? { insert.withLock { $0 } }
    var levels: CallLevels { CallLevels() }
    var failure: CodecError? { nil }
    var latencyProfile: LatencyProfile { .talk }
    func setLatencyProfile(_ profile: LatencyProfile) { note("latency profile \(profile)") }
    /// The codec that cannot be used.
    private let missingCodec = LockedValue<Codec?>(nil)
    func refuse(_ codec: Codec) { missingCodec.withLock { $0 = codec } }
    func setCodec(_ codec: Codec?, opusFrameMilliseconds: Double?) throws(CodecError) {
        if let codec, codec == missingCodec.withLock({ $0 }) { throw .codecMissing(codec: codec.rawValue) }
        note("codec \(codec?.rawValue ?? "auto")\(opusFrameMilliseconds.map { " \($0)" } ?? "")")
    }
    func setOutputVolume(_ volume: Float) { note("output volume \(volume)") }
    func setEffects(_ effects: CallInsert?) {
        note(effects == nil ? "no effects" : "effects")
        insert.withLock { $0 = effects }
    }
    func startAccompaniment() -> CallAccompaniment? { nil }
    func setScheduledSong(_ song: CallInsert?) { note(song == nil ? "no song" : "song") }
    func start() throws(AudioDeviceError) {
        note("start")
        if let error { throw error }
    }
    func stop() { note("stop") }
    func followDevice() {}
    func setMuted(_ isMuted: Bool) { note(isMuted ? "mute" : "unmute") }
    var voiceLatency: Double { 0 }
    func setMonitored(_ isMonitored: Bool, delay: Double) {
        note("monitor \(isMonitored ? "on" : "off")\(delay > 0 ? String(format: " %.1f ms", delay * 1e3) : "")")
    }
    func setLastingGain(_ gain: Float, of peer: PeerID) { note("gain \(gain) of \(peer.rawValue)") }
    func statistics(of peer: PeerID) -> CallStatistics? { nil }
    func setListening(_ isOn: Bool) { note(isOn ? "listen" : "stop listening") }
    func feed(_ listener: inout SameRoomListener, captureDelays: [PeerID: Double]) {}
    func startRecording(includesRawVoice: Bool) throws(CodecError) -> CallRecording {
        note("start recording")
        return CallRecording(
            of: CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup()), sampleRate: 48_000,
            channelCount: 1)
    }
    func endRecording() { note("end recording") }
}

/// A device that may be prepared and records when it is closed.
final class TestDevice: LiveCallDevice {
    struct NoFile: Error {}
    let events: AsyncStream<AudioSessionEvent>
    let eventContinuation: AsyncStream<AudioSessionEvent>.Continuation
    private let isPreparable: Bool
    private let closeCount = LockedValue(0)

    init(isPreparable: Bool = true) {
        self.isPreparable = isPreparable
        (events, eventContinuation) = AsyncStream.makeStream()
    }

    var timesClosed: Int { closeCount.withLock { $0 } }
    var description: CallDevice { .test }
    var interruption: (kind: Interruption, since: HostTime)? { nil }
    var hardwareBlockFrameCount: Int { 256 }
    private let moves = LockedValue<[String]>([])
    /// The requested microphone and loudspeaker of each move.
    var requestedDevices: [String] { moves.withLock { $0 } }
    func use(input: String?, output: String?) throws(AudioDeviceError) {
        if input == "missing" { throw .noDevice(name: "missing", near: []) }
        moves.withLock { $0.append("\(input ?? "default"), \(output ?? "default")") }
    }
    func prepare() throws { if !isPreparable { throw NoFile() } }
    func update() {}
    func close() {
        closeCount.withLock { $0 += 1 }
        eventContinuation.finish()
    }
}
