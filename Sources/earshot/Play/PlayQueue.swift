// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotAudioQueues
import EarshotAudioStreams
import Foundation

/// Keeps enough entries queued in the player, and records what was played. Reports and skips entries that cannot be opened.
final class PlayQueue {
    let entries: [PlayEntry]
    private(set) var items: [PlayReport.Item]
    /// The first failure of a source; otherwise of the first entry that failed and was not played later; nil if there is none.
    var failure: Failure? { sourceFailure ?? failures.min { $0.key < $1.key }?.value }
    private let sourceFailure: Failure?
    private var failures: [Int: Failure] = [:]
    private var retries = PlayRetries()
    private let isLooped: Bool
    /// The player's item of a stream that is being tried again and has not begun; nil if there is none.
    private(set) var retriedItem: Int?
    private let player: AudioPlayer
    private var order: PlayOrder
    private let loops: Int
    /// The index of the entry that each item in the player's queue plays.
    private var entryIndices: [Int] = []
    private var isExhausted = false
    private var failedIndices: Set<Int> = []
    private var lastBegunItem = -1
    private static let maximumTitles = 1_000
    private static let maximumAhead = 64
    private static let secondsAhead = 5.0

    init(_ sources: PlaySources, _ command: PlayCommand, seed: UInt64?, player: AudioPlayer) {
        entries = sources.entries
        sourceFailure = sources.failures.first
        isLooped = command.loop
        self.player = player
        items = entries.map { PlayReport.Item(name: $0.name, kind: $0.isStream ? "stream" : "file") }
        // The player itself repeats a single entry, as one item; `order` repeats several.
        loops = command.loop && entries.count == 1 ? -1 : 0
        order = PlayOrder(count: entries.count, shuffle: seed, isEndless: command.loop && entries.count > 1)
    }

    /// Appends failed streams that are due to be tried again, then entries until enough is queued after the current item.
    /// - Returns: true if the player has at least one item.
    @discardableResult
    func fill() -> Bool {
        for index in retries.take(now: .now()) {
            let item = entryIndices.count
            append(index)
            if entryIndices.count > item { retriedItem = item }
        }
        while !isExhausted, !isAhead, failedIndices.count + retries.count < entries.count {
            guard let index = order.next() else {
                isExhausted = true
                break
            }
            if !failedIndices.contains(index), !retries.contains(index) { append(index) }
        }
        return player.itemCount > 0
    }

    /// True if a failed entry waits to be tried again, or is being tried again and has not begun.
    var isWaiting: Bool { retries.count > 0 || retriedItem != nil }

    private var isAhead: Bool {
        let (count, now) = (player.itemCount, player.currentItem)
        guard count > now + 1 else { return false }
        if count > now + Self.maximumAhead { return true }
        let frames = (now + 1..<count).map { player.frameCount(ofItem: $0) }
        // A stream in the queue is enough, since its length is unknown.
        let hasStream = (now + 1..<count).contains { entry(ofItem: $0).map { entries[$0].isStream } ?? false }
        return hasStream || Double(frames.reduce(0, +)) > Self.secondsAhead * player.format.sampleRate
    }

    private func append(_ index: Int) {
        do throws(AudioPlayerError) {
            switch entries[index].kind {
            case .file(let path): try player.append(path: path, loops: loops)
            case .stream(let address): try player.append(url: address, loops: loops)
            case .pipe(let prefix):
                player.append(AudioStream(reading: STDIN_FILENO, after: prefix, format: player.format))
            }
            entryIndices.append(index)
            if case .file(let path) = entries[index].kind, player.frameCount(ofItem: entryIndices.count - 1) == 0 {
                markFailed(index, Failure("\(path) contains no audio. It is skipped.", status: Failure.data))
            }
        } catch { markFailed(index, Failure(error)) }
    }

    private func markFailed(_ index: Int, _ one: Failure) {
        var line = one.line
        if case .file(let path) = entries[index].kind { line = line.replacing(path, with: entries[index].name) }
        Terminal.error(line)
        items[index].error = line
        failures[index] = one
        guard isLooped, case .stream = entries[index].kind, one.status != Failure.usage else {
            failedIndices.insert(index)
            return
        }
        Terminal.say(String(format: "Retrying in %.1f s.", retries.fail(index, now: .now())))
    }

    private func play(_ index: Int) {
        retries.succeed(index)
        failures[index] = nil
        items[index].error = nil
    }

    /// Returns the item that is `count` places away, or the next item in that direction whose entry has not failed. The result
    /// may be outside the queue.
    func item(_ count: Int, from item: Int) -> Int {
        var goal = item + count
        while let index = entry(ofItem: goal), failedIndices.contains(index) { goal += count.signum() }
        return goal
    }

    func entry(ofItem item: Int) -> Int? { entryIndices.indices.contains(item) ? entryIndices[item] : nil }

    /// Returns the index of the entry that has begun since the last call, and counts this play; nil if none has begun.
    func begin() -> Int? {
        let item = player.currentItem
        guard item != lastBegunItem, let index = entry(ofItem: item) else { return nil }
        lastBegunItem = item
        guard !failedIndices.contains(index) else { return nil }
        items[index].plays += 1
        return index
    }

    func take(_ event: AudioPlayerEvent) {
        switch event {
        case .stream(let item, let state):
            if item == retriedItem { retriedItem = nil }
            if state == .playing, let index = entry(ofItem: item) { play(index) }
        case .failed(let item, let error):
            if item == retriedItem { retriedItem = nil }
            if let index = entry(ofItem: item) { markFailed(index, Failure(error)) }
        case .lost(let loss):
            if let index = entry(ofItem: min(player.currentItem, entryIndices.count - 1)) {
                items[index].lostFrames += loss.frameCount
            }
        case .title(let item, let title):
            guard let index = entry(ofItem: item) else { return }
            let seconds = player.currentItem == item ? player.currentTime : 0
            items[index].titles.append(.init(title: title, seconds: seconds))
            items[index].titles = items[index].titles.suffix(Self.maximumTitles)
        default: break
        }
    }

    /// Updates the times and counts in ``items`` with what was played so far.
    func account() {
        for index in items.indices {
            (items[index].seconds, items[index].stalls, items[index].reconnections) = (0, 0, 0)
            items[index].leftOutSeconds = 0
        }
        for (item, index) in entryIndices.enumerated() {
            items[index].seconds += Double(player.framesHeard(ofItem: item)) / player.format.sampleRate
            guard let stream = player.stream(ofItem: item) else { continue }
            items[index].stalls += stream.statistics.stalls
            items[index].reconnections += stream.statistics.reconnections
            items[index].leftOutSeconds += Double(stream.statistics.framesDropped) / player.format.sampleRate
        }
    }
}
