// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The gains at which the people of a ``ChangedCall`` should hear each other, by a plain model of the commands.
struct ExpectedGains {
    /// The seconds from the end of voice processing until the plain microphone is heard.
    static let processingEnd = 0.3
    /// The maximum seconds until a change is heard: playout may have a delay of 31 ms.
    private static let delay = 0.15

    var volumes = [[Float]](repeating: [1, 1, 1], count: 3)
    var isHeard = [[Bool]](repeating: [true, true, true], count: 3)
    var outputVolumes: [Float] = [1, 1, 1]
    var isMuted = [false, false, false]
    /// True while the person's level may differ, because its voice is processed.
    var isProcessed = [false, false, false]
    private var isPresent = [true, false, false]
    /// The gains from a time on, by listener and speaker; nil if unknown.
    private var steps = [[[(time: HostTime, gain: Float?)]]](
        repeating: [[(time: HostTime, gain: Float?)]](repeating: [], count: 3), count: 3)

    /// A person joins with new settings. The volumes of people are remembered.
    mutating func join(_ person: Int) {
        isPresent[person] = true
        outputVolumes[person] = 1
        isMuted[person] = false
        isProcessed[person] = false
    }

    mutating func leave(_ person: Int) { isPresent[person] = false }

    /// Applies the present settings from a time on.
    mutating func update(at time: HostTime) {
        for listener in 0..<3 {
            for speaker in 0..<3 where speaker != listener {
                steps[listener][speaker].append((time, gain(listener, speaker)))
            }
        }
    }

    private func gain(_ listener: Int, _ speaker: Int) -> Float? {
        guard isPresent[listener], isPresent[speaker], !isMuted[speaker], isHeard[listener][speaker] else { return 0 }
        let gain = volumes[listener][speaker] * outputVolumes[listener]
        return isProcessed[speaker] && gain > 0 ? nil : gain
    }

    /// Returns the gain of a voice during a time; nil if it changes or is unknown.
    func steadyGain(of speaker: Int, heardBy listener: Int, from start: HostTime, to end: HostTime) -> Float? {
        if speaker == listener { return 0 }
        let begin = start.advanced(bySeconds: 0 - Self.delay)
        let all = steps[listener][speaker]
        var values = all.filter { $0.time > begin && $0.time <= end }.map(\.gain)
        if let last = all.last(where: { $0.time <= begin }) { values.append(last.gain) } else { values.append(0) }
        guard let gain = values[0], values.allSatisfy({ $0 == gain }) else { return nil }
        return gain
    }
}
