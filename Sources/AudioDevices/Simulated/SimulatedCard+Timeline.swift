// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension SimulatedCard {
    /// A script, prepared for the render thread: the time at which each frame passes the input converter, and the times without
    /// callbacks.
    struct Timeline: @unchecked Sendable {  // written by `init` only
        private struct Segment: BitwiseCopyable {
            var frame: Double
            var seconds: Double
            var rate: Double
        }
        private struct Stall: BitwiseCopyable {
            var start: Int64
            var end: Int64
        }

        /// The nanoseconds after the card's start at which the card vanishes; `.max` if it does not.
        let vanishing: Int64
        private let segments: UnsafeMutablePointer<Segment>
        private let stalls: UnsafeMutablePointer<Stall>
        private let segmentCount: Int
        private let stallCount: Int

        init(_ script: [Event], sampleRate: Double, driftPPM: Double) {
            var segments = [Segment(frame: 0, seconds: 0, rate: sampleRate * (1 + driftPPM * 1e-6))]
            var stalls: [Stall] = []
            var vanishing = Int64.max
            for event in script.sorted(by: { $0.time < $1.time }) {
                var last = segments[segments.count - 1]
                let seconds = max(event.time, last.seconds)
                last.frame += (seconds - last.seconds) * last.rate
                last.seconds = seconds
                switch event {
                case .stall(let at, let length):
                    stalls.append(Stall(start: Self.nanoseconds(at), end: Self.nanoseconds(at + length)))
                case .suspend(_, let length):
                    last.seconds += length
                    segments.append(last)
                case .drift(_, let ppm):
                    last.rate = sampleRate * (1 + ppm * 1e-6)
                    segments.append(last)
                case .vanish(let at, _):
                    vanishing = min(vanishing, Self.nanoseconds(at))
                }
            }
            self.vanishing = vanishing
            segmentCount = segments.count
            stallCount = stalls.count
            self.segments = .allocate(capacity: segmentCount)
            self.segments.initialize(from: segments, count: segmentCount)
            self.stalls = .allocate(capacity: max(1, stallCount))
            self.stalls.initialize(from: stalls, count: stallCount)
        }

        func deallocate() {
            segments.deallocate()
            stalls.deallocate()
        }

        private static func nanoseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }

        /// Returns the seconds from the card's start until a frame passes the input converter. They are always computed from the
        /// start, so that no error accumulates.
        @_noLocks
        func seconds(atFrame frame: Double) -> Double {
            var index = segmentCount &- 1
            while index > 0, segments[index].frame >= frame { index &-= 1 }
            let segment = segments[index]
            return segment.seconds + (frame - segment.frame) / segment.rate
        }

        /// Returns the actual time of a callback that is due at `time`: the same time, or the end of a stall. Times are
        /// nanoseconds after the card's start.
        @_noLocks
        func callTime(_ time: Int64) -> Int64 {
            var time = time
            for i in 0..<stallCount where time >= stalls[i].start && time < stalls[i].end { time = stalls[i].end }
            return time
        }
    }
}
