// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The actual configuration of one or two PCMs, which have the same rate and the same block.
struct ALSAGrant {
    /// The actual configuration of one direction.
    struct Side {
        let pcm: ALSAPCM
        let sampleType: SampleType
        /// The number of the device's channels in each frame.
        let channelCount: Int
        let bufferFrameCount: Int
    }

    /// The requested configuration.
    struct Request {
        var sampleTypes = SampleType.alsaPreference
        var sampleRate: Double?
        /// Returns the requested frames of a block at a sample rate in hertz.
        var blockFrameCount: (Double) -> Int
        /// The minimum numbers of the device's channels, for capture and for playback.
        var captureChannelCount: Int
        var playbackChannelCount: Int
        /// The number of blocks in a card's buffer.
        var periodCount: Int
    }

    let sampleRate: Double
    let blockFrameCount: Int
    let capture: Side?
    let playback: Side?
    /// The frames that the playback buffer should contain right after a block was written: for cards the requested number of
    /// blocks, with a plug-in at least three blocks, but never more than the buffer.
    let fillFrameCount: Int

    /// Configures the PCMs; after an error they can only be closed.
    ///
    /// A card's buffer has the requested number of periods if the card supports that. A plug-in may take more than a block at
    /// once, so its buffer is long, but playback fills only as much of that buffer as proves necessary.
    init(capture: ALSAPCM?, playback: ALSAPCM?, _ request: Request) throws(AudioDeviceError) {
        let pcms = [capture, playback].compactMap { $0 }
        let (rate, isResampling) = try Self.rate(request.sampleRate, pcms)
        func side(_ pcm: ALSAPCM, block: Int, isFinal: Bool) throws(AudioDeviceError) -> (block: Int, side: Side) {
            let parameters = try ALSAParameters(pcm, isResampling: isResampling)
            try parameters.choose(sampleRate: rate)
            let type = try parameters.choose(sampleTypes: request.sampleTypes)
            let channels = try parameters.choose(
                channelCount: pcm.direction == .input ? request.captureChannelCount : request.playbackChannelCount)
            let buffer = pcm.isHardware ? request.periodCount * block : max(8 * block, Self.pluginBufferMinimum)
            let granted = try parameters.choose(blockFrameCount: block, bufferFrameCount: buffer)
            if isFinal { try parameters.apply() }
            return (
                granted.block,
                Side(pcm: pcm, sampleType: type, channelCount: channels, bufferFrameCount: granted.buffer)
            )
        }
        // Each direction is set to the other direction's period. If they cannot agree, the longer period is used.
        var block = request.blockFrameCount(rate)
        for pcm in pcms { block = try side(pcm, block: block, isFinal: false).block }
        for pcm in pcms { block = max(block, try side(pcm, block: block, isFinal: false).block) }
        var longest = block
        var sides: [Side] = []
        for pcm in pcms {
            let (granted, side) = try side(pcm, block: block, isFinal: true)
            longest = max(longest, granted)
            sides.append(side)
        }
        block = longest
        for side in sides where side.bufferFrameCount < 2 * block {
            throw .unsupportedFormat(
                detail: "\(side.pcm.name) keeps only \(side.bufferFrameCount) frames for blocks of \(block)")
        }
        let waiting = sides.contains { !$0.pcm.isHardware } ? max(3 * block, 256) : request.periodCount * block
        sampleRate = rate
        blockFrameCount = block
        self.capture = sides.first { $0.pcm.direction == .input }
        self.playback = sides.first { $0.pcm.direction == .output }
        fillFrameCount = min(waiting, self.playback?.bufferFrameCount ?? waiting)
        for side in sides {
            // A card wakes the playback thread when a block fits into the buffer below the fill level.
            let isStrict = side.pcm.isHardware && side.pcm.direction == .output
            try side.pcm.setThresholds(
                availableMinimum: isStrict ? side.bufferFrameCount - (fillFrameCount - block) : block,
                bufferFrameCount: side.bufferFrameCount)
        }
    }

    /// The minimum frames of a plug-in's buffer, since the program at the plug-in's other end is unknown.
    private static let pluginBufferMinimum = 8_192

    /// Returns the requested rate or, without a request, the rate nearest to 48 kHz that all PCMs support. `isResampling` is true
    /// only if no PCM configuration without libasound's conversion supports the rate.
    private static func rate(
        _ asked: Double?, _ pcms: [ALSAPCM]
    ) throws(AudioDeviceError) -> (rate: Double, isResampling: Bool) {
        var common: [Double] = []
        for isResampling in [false, true] {
            var spaces: [ALSAParameters] = []
            for pcm in pcms { spaces.append(try ALSAParameters(pcm, isResampling: isResampling)) }
            common = (spaces.first?.sampleRates ?? []).filter { rate in spaces.allSatisfy { $0.has(sampleRate: rate) } }
            if let asked {
                if spaces.allSatisfy({ $0.has(sampleRate: asked) }) { return (asked, isResampling) }
            } else if let nearest = common.min(by: { abs($0 - 48_000) < abs($1 - 48_000) }) {
                return (nearest, isResampling)
            }
        }
        let names = pcms.map(\.name)
        let device = Set(names).count == 1 ? names[0] : names.joined(separator: " with ")
        guard let asked else {
            throw .unsupportedFormat(detail: "\(device): the two have no rate in common")
        }
        throw .refusedRate(asked, by: device, offered: common)
    }
}
