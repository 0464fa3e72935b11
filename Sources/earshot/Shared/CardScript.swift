// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioDevices

/// The events of a simulated card, as `stall@3:2,vanish@6:1,suspend@9:5,drift@10:300`. The number after `@` is the second at
/// which the event begins. The number after `:` is the event's length in seconds; for `drift`, parts per million.
struct CardScript: ExpressibleByArgument, Sendable {
    let events: [SimulatedCard.Event]

    init?(argument: String) {
        var events: [SimulatedCard.Event] = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let event = Self.event(part) else { return nil }
            events.append(event)
        }
        self.events = events
    }

    private static func event(_ text: Substring) -> SimulatedCard.Event? {
        let words = text.split(separator: "@", maxSplits: 1)
        guard words.count == 2 else { return nil }
        let numbers = words[1].split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
        guard (1...2).contains(numbers.count), let startSeconds = numbers[0], startSeconds >= 0, startSeconds < 1e6
        else { return nil }
        let lengthOrPPM = numbers.count == 2 ? numbers[1] : nil
        if numbers.count == 2, lengthOrPPM == nil { return nil }
        switch (words[0], lengthOrPPM) {
        case ("vanish", nil): return .vanish(at: startSeconds)
        case ("drift", let ppm?) where abs(ppm) <= 10_000: return .drift(at: startSeconds, ppm: ppm)
        case ("vanish", let length?) where length > 0 && length < 1e6: return .vanish(at: startSeconds, for: length)
        case ("stall", let length?) where length > 0 && length < 1e6: return .stall(at: startSeconds, for: length)
        case ("suspend", let length?) where length > 0 && length < 1e6: return .suspend(at: startSeconds, for: length)
        default: return nil
        }
    }
}
