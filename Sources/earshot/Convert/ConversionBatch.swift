// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import Foundation
import Synchronization

/// Runs several conversions in parallel.
final class ConversionBatch: Sendable {
    struct Outcome {
        var result: Result<SoundFileConversion.Result, SoundFileConversion.Failure>
        /// The seconds that it took.
        var seconds: Double
    }

    private struct State {
        var next = 0
        var parts: [Double]
        var outcomes: [Outcome?]
        var running = 0
    }

    private let conversions: [SoundFileConversion]
    private let keepsBits: Bool
    private let isCancelled: @Sendable () -> Bool
    private let state: Mutex<State>
    private let finished = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - keepsBits: true to keep each input's bit depth, which is read when its turn comes.
    ///   - isCancelled: called by the threads; true ends running conversions and starts no more.
    init(
        _ conversions: [SoundFileConversion], keepsBits: Bool,
        isCancelled: @escaping @Sendable () -> Bool = { Interrupt.isRequested }
    ) {
        self.conversions = conversions
        self.keepsBits = keepsBits
        self.isCancelled = isCancelled
        state = Mutex(
            State(
                parts: [Double](repeating: 0, count: conversions.count),
                outcomes: [Outcome?](repeating: nil, count: conversions.count)))
    }

    /// Starts the conversions in threads.
    func start(jobs: Int) {
        let count = min(jobs, conversions.count)
        state.withLock { $0.running = count }
        for _ in 0..<count {
            let thread = Thread { [self] in
                work()
                let running = state.withLock { state in
                    state.running -= 1
                    return state.running
                }
                if running == 0 { finished.signal() }
            }
            thread.stackSize = 1 << 20
            thread.name = "convert"
            thread.start()
        }
    }

    private func work() {
        let clock = ContinuousClock()
        while let index = next() {
            let start = clock.now
            let result: Result<SoundFileConversion.Result, SoundFileConversion.Failure>
            var conversion = conversions[index]
            if keepsBits { conversion.settings.sampleFormat = ConversionOptions.sampleFormat(of: conversion) }
            do {
                result = .success(
                    try conversion.run { part in
                        state.withLock { $0.parts[index] = part }
                        return !isCancelled()
                    })
            } catch { result = .failure(error) }
            state.withLock {
                $0.parts[index] = 1
                $0.outcomes[index] = Outcome(result: result, seconds: (clock.now - start) / .seconds(1))
            }
        }
    }

    private func next() -> Int? {
        if isCancelled() { return nil }
        return state.withLock { state in
            guard state.next < conversions.count else { return nil }
            state.next += 1
            return state.next - 1
        }
    }

    /// Waits until all are done, or for a time. Returns true if they are.
    func wait(seconds: Double) -> Bool {
        state.withLock { $0.running == 0 } || finished.wait(timeout: .now() + seconds) == .success
    }

    /// Returns the number of finished files, and the finished part of all work.
    var done: (files: Int, part: Double) {
        state.withLock { state in
            (
                state.outcomes.count { $0 != nil },
                state.parts.isEmpty ? 1 : state.parts.reduce(0, +) / Double(state.parts.count)
            )
        }
    }

    /// The results in the order of the conversions, once all are done.
    var results: [Outcome] {
        state.withLock { $0.outcomes.map { $0 ?? Outcome(result: .failure(.cancelled), seconds: 0) } }
    }
}
