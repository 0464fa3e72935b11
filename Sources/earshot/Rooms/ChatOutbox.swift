import AudioBase
import Rooms

/// The lines for one member, which go out in their order. Who takes none holds up nobody else for long.
///
/// Of any task.
final class ChatOutbox: Sendable {
    private struct State {
        var lines: [String] = []
        /// Those that found no room.
        var lost = 0
        /// Since when the line that is on its way is; nil while there is none.
        var began: ContinuousClock.Instant?
    }

    /// Lines that wait for the one on its way.
    static let capacity = 16
    /// That whoever writes waits for a full box.
    static let patience = Duration.seconds(5)

    private let state = Guarded(State())
    /// Sends a line; what it returns is why it did not arrive.
    private let send: @Sendable (String) async -> String?
    /// Gets the reason why so many lines did not arrive.
    private let complain: @Sendable (_ count: Int, _ reason: String) async -> Void

    init(
        send: @escaping @Sendable (String) async -> String?,
        complain: @escaping @Sendable (_ count: Int, _ reason: String) async -> Void
    ) {
        self.send = send
        self.complain = complain
    }

    /// Whether nothing is on its way.
    var isEmpty: Bool { state.withLock { $0.began == nil } }

    /// Whether it is worth waiting for room in it.
    func isFull(at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            guard let began = state.began, state.lines.count >= Self.capacity else { return false }
            return now - began < Self.patience
        }
    }

    /// Puts a line in; where there is no room it is lost, which is told when the line on its way has arrived, or has not.
    func put(_ line: String) {
        let isFirst = state.withLock { state -> Bool in
            guard state.lines.count < Self.capacity else {
                state.lost += 1
                return false
            }
            state.lines.append(line)
            guard state.began == nil else { return false }
            state.began = .now
            return true
        }
        if isFirst { Task { await self.drain() } }
    }

    private func drain() async {
        while let line = next() {
            guard let reason = await send(line) else {
                await tell("too much was waiting for them already")
                continue
            }
            // Those behind it would each wait as long.
            state.withLock { state in
                state.lost += 1 + state.lines.count
                state.lines = []
            }
            await tell(reason)
        }
    }

    private func next() -> String? {
        state.withLock { state in
            guard !state.lines.isEmpty else {
                state.began = nil
                return nil
            }
            state.began = .now
            return state.lines.removeFirst()
        }
    }

    private func tell(_ reason: String) async {
        let count = state.withLock { state in
            defer { state.lost = 0 }
            return state.lost
        }
        if count > 0 { await complain(count, reason) }
    }
}
