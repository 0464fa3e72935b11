// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

@testable import EarshotCall

/// An insert that scales a mono block, adds a constant and delays it, and counts its calls.
final class TestInsert: @unchecked Sendable {  // its memory is the render thread's
    /// Counts the inserts whose memory has not been freed.
    final class Living: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .relaxed) }
        fileprivate func add(_ change: Int) { count.add(change, ordering: .relaxed) }
    }

    private struct State {
        var scale: Float
        var offset: Float
        var line: UnsafeMutablePointer<Float>
        var length: Int
        var at = 0
        var calls = 0
    }

    private let state: UnsafeMutablePointer<State>
    private let living: Living

    private init(_ state: State, _ living: Living) {
        self.state = .allocate(capacity: 1)
        self.state.initialize(to: state)
        self.living = living
        living.add(1)
    }

    deinit {
        state.pointee.line.deallocate()
        state.deallocate()
        living.add(-1)
    }

    /// - Parameter delay: frames.
    /// - Returns: the insert, which alone owns its memory, and the number of its calls.
    static func make(
        scale: Float = 1, offset: Float = 0, delay: Int = 0, _ living: Living = Living()
    ) -> (insert: CallInsert, calls: () -> Int) {
        let line = UnsafeMutablePointer<Float>.allocate(capacity: max(1, delay))
        line.initialize(repeating: 0, count: max(1, delay))
        let owner = TestInsert(State(scale: scale, offset: offset, line: line, length: delay), living)
        let state = owner.state
        let callback = RenderCallback(context: UnsafeMutableRawPointer(state)) { context, cycle in
            guard let context, let cycle else { return }
            let state = context.assumingMemoryBound(to: State.self)
            let io = cycle.assumingMemoryBound(to: IOCycle.self).pointee
            state.pointee.calls &+= 1
            for i in 0..<io.frameCount {
                var x = io.input[0][i] * state.pointee.scale + state.pointee.offset
                if state.pointee.length > 0 {
                    let at = state.pointee.at
                    (x, state.pointee.line[at]) = (state.pointee.line[at], x)
                    state.pointee.at = at &+ 1 == state.pointee.length ? 0 : at &+ 1
                }
                io.output[0][i] = x
            }
        }
        let insert = CallInsert(latency: Double(delay) / 48_000, callback: callback, owner: owner)
        return (insert, { state.pointee.calls })
    }
}
