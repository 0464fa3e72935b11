import AudioContainers
import Foundation
import Synchronization

/// Conversions, several at once.
final class ConversionBatch: Sendable {
    struct Outcome {
        var result: Result<SoundFileConversion.Result, SoundFileConversion.Failure>
        /// That it took.
        var seconds: Double
    }

    private struct State {
        var next = 0
        var parts: [Double]
        var outcomes: [Outcome?]
        var running = 0
    }

    private let conversions: [SoundFileConversion]
    private let state: Mutex<State>
    private let finished = DispatchSemaphore(value: 0)

    init(_ conversions: [SoundFileConversion]) {
        self.conversions = conversions
        state = Mutex(
            State(
                parts: [Double](repeating: 0, count: conversions.count),
                outcomes: [Outcome?](repeating: nil, count: conversions.count)))
    }

    /// Begins, in threads of its own.
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
            do {
                result = .success(
                    try conversions[index].run { part in
                        state.withLock { $0.parts[index] = part }
                        return !Interrupt.isRequested
                    })
            } catch { result = .failure(error) }
            state.withLock {
                $0.parts[index] = 1
                $0.outcomes[index] = Outcome(result: result, seconds: (clock.now - start) / .seconds(1))
            }
        }
    }

    private func next() -> Int? {
        state.withLock { state in
            guard state.next < conversions.count else { return nil }
            state.next += 1
            return state.next - 1
        }
    }

    /// Waits until all are done, or so long; returns whether they are.
    func wait(seconds: Double) -> Bool {
        state.withLock { $0.running == 0 } || finished.wait(timeout: .now() + seconds) == .success
    }

    /// Files that are done, and the part of all the work.
    var done: (files: Int, part: Double) {
        state.withLock { state in
            (
                state.outcomes.count { $0 != nil },
                state.parts.isEmpty ? 1 : state.parts.reduce(0, +) / Double(state.parts.count)
            )
        }
    }

    /// In the order of the conversions, once all are done.
    var results: [Outcome] { state.withLock { $0.outcomes.compactMap { $0 } } }
}
