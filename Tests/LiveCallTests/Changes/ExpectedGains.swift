// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

/// The gains at which the people of a ``ChangedCall`` should hear all tones, by a plain model of the commands.
///
/// The tones are those of ``ChangedCall/frequencies``: 0 to 2 are voices, 3 and 4 the songs of persons 0 and 1.
struct ExpectedGains {
    struct Song {
        var isPlaying = false
        var gain: Float = 1
        var isForAll = false
    }

    /// The seconds from the end of voice processing until the plain microphone is heard.
    static let processingEnd = 0.3
    /// The seconds until sound that jumps in time is steady again.
    static let shiftEnd = 0.1
    /// The seconds from a new device's first block until a sent song has that device's delay: the longer blocks of the earlier one
    /// count for a second.
    static let songDelayEnd = 1.1
    /// The maximum seconds until a change is heard: playout may have a delay of 31 ms and a packet of 20 ms, the monitor is
    /// chosen every 50 ms, and effects fade for 20 ms.
    private static let delay = 0.2
    private static let toneCount = ChangedCall.frequencies.count

    var volumes = [[Float]](repeating: [1, 1, 1], count: 3)
    var isHeard = [[Bool]](repeating: [true, true, true], count: 3)
    var outputVolumes: [Float] = [1, 1, 1]
    var isMuted = [false, false, false]
    /// True for a person who hears its own voice.
    var isMonitored = [false, false, false]
    /// The decibels of each person's effects.
    var decibels: [Double] = [0, 0, 0]
    var songs: [Song?] = [nil, nil, nil]
    /// True while the person's level may differ, because its voice is processed.
    var isProcessed = [false, false, false]
    /// The number of changes by which a person's voice, or its song, jumps in time now.
    var shifts = [0, 0, 0]
    var songShifts = [0, 0, 0]
    /// The number of changes of a person's device, in which it hears and says nothing, or shifted sound.
    var moves = [0, 0, 0]
    private var formatChanges = [[Int]](repeating: [0, 0, 0], count: 3)
    private var wasMuted = [false, false, false]
    private var isPresent = [true, false, false]
    /// The gains from a time on, by listener and tone; nil if unknown.
    private var steps = [[[(time: HostTime, gain: Float?)]]](
        repeating: [[(time: HostTime, gain: Float?)]](repeating: [], count: ExpectedGains.toneCount), count: 3)

    /// A person joins with new settings. The volumes of people are remembered.
    mutating func join(_ person: Int) {
        isPresent[person] = true
        outputVolumes[person] = 1
        isMuted[person] = false
        isMonitored[person] = false
        decibels[person] = 0
        songs[person] = nil
        isProcessed[person] = false
        moves[person] = 0
    }

    mutating func leave(_ person: Int) { isPresent[person] = false }

    mutating func setPushToTalk(_ isOn: Bool, of person: Int) {
        if isOn { wasMuted[person] = isMuted[person] }
        isMuted[person] = isOn || wasMuted[person]
    }

    /// The codec changes. A concealed packet moves the phase of a tone, so that its level is unknown; the media count the gap.
    mutating func beginFormatChange(between one: Int, _ other: Int) {
        formatChanges[one][other] += 1
        formatChanges[other][one] += 1
    }

    mutating func endFormatChange(between one: Int, _ other: Int) {
        formatChanges[one][other] -= 1
        formatChanges[other][one] -= 1
    }

    /// Applies the present settings from a time on.
    mutating func update(at time: HostTime) {
        for listener in 0..<3 {
            for tone in 0..<Self.toneCount {
                let gain = gain(listener, tone)
                if let last = steps[listener][tone].last, last.gain == gain { continue }
                steps[listener][tone].append((time, gain))
            }
        }
    }

    private func gain(_ listener: Int, _ tone: Int) -> Float? {
        let speaker = tone % 3
        guard isPresent[listener], isPresent[speaker] else { return 0 }
        if moves[listener] > 0 || moves[speaker] > 0 { return nil }
        return tone < 3 ? voiceGain(listener, speaker) : songGain(listener, speaker)
    }

    private func voiceGain(_ listener: Int, _ speaker: Int) -> Float? {
        let isOwn = speaker == listener
        guard isOwn ? isMonitored[speaker] : !isMuted[speaker] else { return 0 }
        let path = isOwn ? 1 : pathGain(listener, speaker)
        if path == 0 { return 0 }
        if isProcessed[speaker] || shifts[speaker] > 0 || formatChanges[listener][speaker] > 0 { return nil }
        return path * Float(pow(10, decibels[speaker] / 20))
    }

    private func songGain(_ listener: Int, _ speaker: Int) -> Float? {
        let isOwn = speaker == listener
        guard let song = songs[speaker], song.isPlaying, isOwn || song.isForAll else { return 0 }
        let gain = song.gain * (isOwn ? outputVolumes[listener] : pathGain(listener, speaker))
        if gain == 0 { return 0 }
        if songShifts[speaker] > 0 { return nil }
        // The sent song is delayed like the voice.
        let isMoving = isProcessed[speaker] || shifts[speaker] > 0 || formatChanges[listener][speaker] > 0
        return !isOwn && isMoving ? nil : gain
    }

    /// Returns the gain from a remote person to the listener's loudspeaker.
    private func pathGain(_ listener: Int, _ speaker: Int) -> Float {
        isHeard[listener][speaker] ? volumes[listener][speaker] * outputVolumes[listener] : 0
    }

    /// Returns the gain of a tone during a time; nil if it changes or is unknown.
    func steadyGain(of tone: Int, heardBy listener: Int, from start: HostTime, to end: HostTime) -> Float? {
        let begin = start.advanced(bySeconds: 0 - Self.delay)
        let all = steps[listener][tone]
        var values = all.filter { $0.time > begin && $0.time <= end }.map(\.gain)
        if let last = all.last(where: { $0.time <= begin }) { values.append(last.gain) } else { values.append(0) }
        guard let gain = values[0], values.allSatisfy({ $0 == gain }) else { return nil }
        return gain
    }
}
