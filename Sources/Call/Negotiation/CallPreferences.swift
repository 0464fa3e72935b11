// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotMediaTransport
import EarshotPlayout

/// The capabilities and wishes of the local peer in a call, from which offers, answers and configurations are made.
public struct CallPreferences: Sendable {
    /// The only codec to use; nil for any, Opus first. If Opus Custom is chosen, a remote peer without it gets Opus in short
    /// packets (``opusFrameMilliseconds``).
    public var codec: Codec?
    /// The codec that is offered and chosen first, although others may be used; nil for Opus. Not used if ``codec`` is set.
    package private(set) var preferredCodec: Codec?
    /// The channels to send, 1 or 2.
    public var channelCount: Int
    /// The milliseconds of an Opus packet: 2.5, 5, 10 or 20. Nil for the remote peer's preference, or 10 if it has none; for Opus
    /// that replaces Opus Custom, nil means 2.5.
    public var opusFrameMilliseconds: Double?
    /// The bits a second of AAC, Opus and Opus Custom, for all channels. Nil for the default, which is for each channel: 64,000
    /// with AAC; 192,000 with Opus Custom; 48,000, 64,000, 96,000 or 128,000 with Opus in packets of 20, 10, 5 or 2.5 ms, since
    /// short packets need more bits.
    public var bitRate: Int?
    /// The allowed direction of the media at the local peer: without a microphone, or to listen only, receive only.
    public var direction = SessionDescription.Direction.sendReceive
    /// True to repair losses, by redundancy and retransmission, with remote peers that support it.
    package var allowsRepair = true
    /// True to lower the bit rate and lengthen packets on a slow link: Opus at a lower bit rate, or Opus instead of PCM at 48 kHz
    /// if the remote peer supports it.
    package var changesRate = true
    /// The device's sample rate in hertz.
    public var deviceRate: Double
    /// The frames of a device's block.
    public var deviceBlock: Int
    /// The frames of a block of the device that captures now, for the remote peer; 0 for ``deviceBlock``.
    var presentBlock = 0
    /// The initial trade of delay against gaps. ``CallSession/latencyProfile`` changes it.
    public var latencyProfile = LatencyProfile.talk

    /// Creates preferences for all codecs, in mono by default.
    public init(
        codec: Codec? = nil, channelCount: Int = 1, opusFrameMilliseconds: Double? = nil, bitRate: Int? = nil,
        deviceRate: Double, deviceBlock: Int
    ) {
        self.codec = codec
        self.channelCount = channelCount
        self.opusFrameMilliseconds = opusFrameMilliseconds
        self.bitRate = bitRate
        self.deviceRate = deviceRate
        self.deviceBlock = deviceBlock
    }

    /// The sample rate of AAC in calls in hertz, whatever the device's rate.
    package static let aacRate = 44_100.0

    /// Returns an offer of everything that the local peer supports.
    /// - Throws: if the AAC encoder, whose configuration is part of the offer, cannot be created.
    package func offer(address: IPAddress, port: UInt16, sessionID: UInt64) throws(CodecError) -> SessionDescription {
        var formats: [MediaFormat] = []
        var failure: CodecError?
        for codec in codecs {
            // A codec that cannot reach the requested bit rate is not offered.
            do throws(CodecError) {
                formats.append(try codec.inCalls.format(self, rate: codec.inCalls.offeredRate(deviceRate: deviceRate)))
            } catch { failure = error }
        }
        if formats.isEmpty, let failure { throw failure }
        var offer = SessionDescription.offer(
            formats: formats, address: address, port: port, packetTime: opusPacketTime, sessionID: sessionID)
        offer.direction = direction
        return offer
    }

    /// Returns an offer for the transport between peers, with send times, and repair of losses and requests for a lower bit
    /// rate if allowed.
    package func peerOffer(
        address: IPAddress, port: UInt16, sessionID: UInt64
    ) throws(CodecError) -> SessionDescription {
        var offer = try offer(address: address, port: port, sessionID: sessionID)
        offer.profile = .dtlsSAVPF
        if allowsRepair, offer.direction != .inactive { offer.offerRepair() }
        if changesRate, offer.direction != .inactive { offer.offerRateRequests() }
        if offer.direction != .inactive { offer.offerSendTime() }
        offer.blockTime = blockTime(for: offer.direction)
        return offer
    }

    /// The codecs that the local peer may use, the preferred one first.
    private var codecs: [Codec] {
        guard let first = codec ?? preferredCodec else { return Codec.byPreference }
        let wanted = [first] + (first.traits.substitute.map { [$0] } ?? [])
        return codec == nil ? wanted + Codec.byPreference.filter { !wanted.contains($0) } : wanted
    }

    /// Returns these preferences with another preferred codec, and none required.
    /// - Throws: if this machine cannot encode with the codec.
    func preferring(_ codec: Codec?, opusFrameMilliseconds: Double?) throws(CodecError) -> CallPreferences {
        var preferences = self
        preferences.codec = nil
        preferences.preferredCodec = codec
        preferences.opusFrameMilliseconds = opusFrameMilliseconds
        if let codec {
            let rate = codec.inCalls.offeredRate(deviceRate: deviceRate)
            _ = try codec.inCalls.format(preferences, rate: rate)
        }
        return preferences
    }

    /// Returns the preferences without the preferred codec. A required codec stays.
    func withoutPreferredCodec() -> CallPreferences {
        var preferences = self
        preferences.preferredCodec = nil
        return preferences
    }

    /// The values of ``opusFrameMilliseconds``.
    package static let opusPacketTimes = OpusFrameDuration.allCases.map(\.milliseconds)

    /// The preferred milliseconds of an Opus packet; nil for no preference.
    var opusPacketTime: Double? {
        opusFrameMilliseconds ?? ((codec ?? preferredCodec)?.traits.substitute == nil ? nil : 2.5)
    }

    /// Answers an offer. PCM and Opus Custom get the offer's sample rate in both directions. If no media is to flow, any format
    /// is accepted.
    /// - Throws: `NegotiationError` without a common format, `CodecError` if a codec cannot be created.
    package func answer(
        to offer: SessionDescription, address: IPAddress, port: UInt16, sessionID: UInt64
    ) throws -> SessionDescription {
        let direction = offer.direction.mirrored.limited(to: self.direction)
        if direction == .inactive {
            return try .inactiveAnswer(to: offer, address: address, port: port, sessionID: sessionID)
        }
        var formats: [MediaFormat] = []
        for offered in offer.formats {
            guard let codec = offered.codec, codecs.contains(codec) else { continue }
            guard codec.inCalls.acceptsOffered(rate: offered.clockRate) else { continue }
            if codecs.count > 1 {
                if let format = try? codec.inCalls.format(self, rate: offered.clockRate) { formats.append(format) }
            } else {
                formats.append(try codec.inCalls.format(self, rate: offered.clockRate))
            }
        }
        // The offer lacks the required codec; the error then lists what the local peer supports.
        if formats.isEmpty, let codec {
            formats.append(try codec.inCalls.format(self, rate: codec.inCalls.offeredRate(deviceRate: deviceRate)))
        }
        var answer = try SessionDescription.answer(
            to: offer, supporting: formats, preferring: preference(among: formats, of: offer), address: address,
            port: port, packetTime: opusPacketTime, sessionID: sessionID)
        answer.direction = direction
        if allowsRepair { answer.answerRepair(to: offer) }
        if changesRate { answer.answerRateRequests(to: offer) }
        answer.answerSendTime(to: offer)
        answer.blockTime = blockTime(for: direction)
        return answer
    }

    /// Returns the milliseconds of a block of the device, to the microsecond; nil if nothing is sent.
    private func blockTime(for direction: SessionDescription.Direction) -> Double? {
        let microseconds = Double(presentBlock > 0 ? presentBlock : deviceBlock) / deviceRate * 1e6
        let time = microseconds.rounded() / 1e3
        return direction.sends && SessionDescription.blockTimes.contains(time) ? time : nil
    }

    /// Returns the required codec, or Opus if that is Opus Custom and the offer lacks it; without a required codec, the preferred
    /// one if the offer has it. Nil for the offer's first.
    private func preference(among formats: [MediaFormat], of offer: SessionDescription) -> Codec? {
        if codec == nil, preferredCodec == nil { return nil }
        guard codec == nil || codec?.traits.substitute != nil else { return codec }
        let common = formats.filter { format in offer.formats.contains { format.matches($0) } }
        return codecs.first { codec in common.contains { $0.codec == codec } } ?? codec
    }

    /// Returns the result of a local offer and its answer; nil if no media flows.
    package func agreement(
        offer: SessionDescription, answer: SessionDescription
    ) throws(NegotiationError) -> NegotiatedMedia? {
        guard answer.port != 0 else { throw .noAudio }
        let direction = answer.direction.mirrored.limited(to: self.direction)
        if direction == .inactive { return nil }
        let chosen = try offer.format(chosenBy: answer)
        guard let mine = offer.formats.first(where: { $0.payloadType == chosen.payloadType }) else { throw .noAudio }
        var configuration = try configuration(mine: mine, remote: answer, format: chosen)
        configuration.repair = SessionDescription.repair(
            of: mine.payloadType, mine: offer, theirs: answer)
        configuration.sendTimeID = SessionDescription.sendTimeID(mine: offer, theirs: answer)
        return NegotiatedMedia(configuration: configuration, direction: direction)
    }

    /// Returns the result of a remote offer and the local answer; nil if no media flows.
    package func agreement(
        answer: SessionDescription, to offer: SessionDescription
    ) throws(NegotiationError) -> NegotiatedMedia? {
        if answer.direction == .inactive { return nil }
        guard let mine = answer.formats.first,
            let theirs = offer.formats.first(where: { $0.payloadType == mine.payloadType })
        else { throw .noAudio }
        var configuration = try configuration(mine: mine, remote: offer, format: theirs)
        configuration.repair = SessionDescription.repair(
            of: mine.payloadType, mine: answer, theirs: offer)
        configuration.sendTimeID = SessionDescription.sendTimeID(mine: answer, theirs: offer)
        return NegotiatedMedia(configuration: configuration, direction: answer.direction)
    }

    /// Returns the negotiated configuration.
    /// - Parameters:
    ///   - mine: the format in the local description.
    ///   - remote: the remote peer's description.
    ///   - format: the same format in the remote description.
    package func configuration(
        mine: MediaFormat, remote: SessionDescription, format: MediaFormat
    ) throws(NegotiationError) -> CallConfiguration {
        guard let codec = mine.codec else {
            throw .noCommonFormat(offered: [format.description], supported: [mine.description], required: self.codec)
        }
        let rate = Double(mine.clockRate)
        let frames = codec.inCalls.framesPerPacket(
            self, rate: rate, wanted: remote.packetTime, longest: remote.maximumPacketTime ?? .infinity)
        // If the remote peer's limit is below the codec's minimum, the minimum is sent.
        let least = codec.inCalls.lowestBitRate
        let bitRate = self.bitRate ?? codec.inCalls.usualBitRate(framesPerPacket: frames) * channelCount
        var configuration = CallConfiguration(
            codec: codec, streamRate: rate, channelCount: channelCount, framesPerPacket: frames,
            bitRate: max(least, min(bitRate, Self.limit(format))),
            payloadType: mine.payloadType, remoteAudioSpecificConfig: format.configuration ?? [],
            deviceRate: deviceRate, deviceBlock: deviceBlock, latencyProfile: latencyProfile)
        configuration.longestPacket = min(0.120, (remote.maximumPacketTime ?? 120) / 1e3)
        configuration.bitRateLimit = Self.limit(format)
        configuration.changesRate = changesRate
        configuration.takesCodecRedundancy = format.takesCodecRedundancy
        configuration.remoteBlock = Int((remote.blockTime ?? 0) / 1e3 * rate + 0.5)
        return configuration
    }

    /// Returns the remote peer's limit of the bit rate (RFC 7587 §6.1) in bits a second; `.max` for none.
    private static func limit(_ format: MediaFormat) -> Int {
        guard let value = format.parameter("maxaveragebitrate").flatMap({ Int($0) }), value >= 6_000 else {
            return .max
        }
        return value
    }

    /// Returns the frames of a device's block, converted to another rate in hertz.
    func blockFrames(rate: Double) -> Int { Int((Double(deviceBlock) * rate / deviceRate).rounded()) }
}
