// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotPlayout

extension SimulatedPeer {
    func measure(_ meter: StreamMeter) { meters.append(meter) }
    func meter(of peer: PeerID) -> StreamMeter? { meters.first { $0.from == peer.rawValue } }
    /// Restarts the measurements of another peer's sound, after media with that peer was renegotiated.
    func remeasure(_ peer: PeerID) {
        for index in meters.indices where meters[index].from == peer.rawValue { meters[index].follow() }
    }

    /// Starts the measurements of all other peers' sound.
    func beginMeasuring(at elapsed: Double) {
        for index in meters.indices {
            let peer = PeerID(meters[index].from)
            meters[index].begin(
                at: elapsed, playout(of: peer)?.statistics ?? PlayoutStatistics(),
                lateUnits: statistics(of: peer).lateUnits)
        }
    }

    /// Returns the time at which a frame of a stream to another peer passed the microphone's converter.
    func captureTime(ofStreamFrame frame: Double, for peer: PeerID) -> HostTime {
        guard let agreement = agreements[peer] else { return HostTime(nanoseconds: 0) }
        let cardFrame = Double(agreement.streamOrigin) + frame * agreement.scale
        let wholeFrame = cardFrame.rounded(.down)
        let time = card.time(ofFrame: Int64(wholeFrame)) ?? HostTime(nanoseconds: 0)
        return time.advanced(bySeconds: (cardFrame - wholeFrame) / card.configuration.trueSampleRate)
    }

    func observe(_ cycle: IOCycle, elapsed: Double) {
        guard !meters.isEmpty,
            let outputTime = card.time(ofFrame: cycle.sampleTime + Int64(2 * card.configuration.longestBlock))
        else { return }
        for index in meters.indices where meters[index].began != nil {
            guard let agreement = agreements[PeerID(meters[index].from)], let heard = agreement.heard else { continue }
            meters[index].observe(
                heard.playout.statistics, of: agreement.media, at: self, outputTime: outputTime, elapsed: elapsed)
        }
    }
}

extension SimulatedPeer {
    /// Returns the microphone's sound in these seconds of the card, and the time of the first frame at the converter. The sound
    /// must give the same frames again.
    package func spoken(_ seconds: Range<Double>, channel: Int = 0) -> (samples: [Float], from: HostTime) {
        let rate = card.configuration.trueSampleRate
        let first = Int(seconds.lowerBound * rate)
        let count = Int(seconds.upperBound * rate) - first
        let part = AudioBuffer(channelCount: preferences.channelCount, frameCapacity: max(1, count))
        try? sound.fill(part.channels, first, count)
        let start = card.firstInputFrameTime ?? HostTime(nanoseconds: 0)
        return (
            Array(UnsafeBufferPointer(start: part.channels[channel], count: count)),
            start.advanced(bySeconds: Double(first) / rate)
        )
    }

    /// Returns the loudspeaker's sound in these seconds of the card, as far as it was kept, and the time of the first frame.
    package func heard(_ seconds: Range<Double>, channel: Int = 0) -> (samples: [Float], from: HostTime) {
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
