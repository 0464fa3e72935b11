// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The render thread's program: instructions in order, with their buffers. Immutable.
///
/// Made and freed on the control thread; ``header`` is what the render thread gets.
final class RenderProgram {
    /// The maximum frames of a slice. A device's block is rendered in slices, so that buffers stay in the first-level cache, and
    /// the result does not depend on the block size.
    static let sliceFrameCount = 256

    struct Header: BitwiseCopyable {
        var steps: UnsafeMutablePointer<RenderStep>
        var stepCount: Int
        /// The sample rate of each domain in whole hertz; the first is the device's.
        var rates: UnsafeMutablePointer<Int64>
        var counts: UnsafeMutablePointer<Int>
        var times: UnsafeMutablePointer<Int64>
        var domainCount: Int
    }

    let header: UnsafeMutablePointer<Header>
    private let steps: UnsafeMutablePointer<RenderStep>
    private let buses: UnsafeMutablePointer<RenderBus>
    private let domains: UnsafeMutablePointer<Int64>
    private let counts: UnsafeMutablePointer<Int>
    private let times: UnsafeMutablePointer<Int64>
    /// The objects whose memory the steps use.
    private let kept: [AnyObject]

    struct Draft {
        var function: RenderFunction
        var state: UnsafeMutableRawPointer
        var inputs: [RenderBus]
        var outputs: [RenderBus]
        var domain: Int
    }

    init(_ drafts: [Draft], rates: [Int64], keeping kept: [AnyObject]) {
        self.kept = kept
        steps = .allocate(capacity: max(1, drafts.count))
        buses = .allocate(capacity: max(1, drafts.reduce(0) { $0 + $1.inputs.count + $1.outputs.count }))
        domains = .allocate(capacity: rates.count)
        counts = .allocate(capacity: rates.count)
        times = .allocate(capacity: rates.count)
        var at = buses
        for (i, draft) in drafts.enumerated() {
            let inputs = at
            for bus in draft.inputs { at.initialize(to: bus); at += 1 }
            let outputs = at
            for bus in draft.outputs { at.initialize(to: bus); at += 1 }
            (steps + i).initialize(
                to: RenderStep(
                    function: draft.function, state: draft.state, inputs: inputs, inputCount: draft.inputs.count,
                    outputs: outputs, outputCount: draft.outputs.count, domain: draft.domain))
        }
        for (i, rate) in rates.enumerated() {
            (domains + i).initialize(to: rate)
            (counts + i).initialize(to: 0)
            (times + i).initialize(to: 0)
        }
        header = .allocate(capacity: 1)
        header.initialize(
            to: Header(
                steps: steps, stepCount: drafts.count, rates: domains, counts: counts, times: times,
                domainCount: rates.count))
    }

    deinit {
        header.deallocate()
        steps.deallocate()
        buses.deallocate()
        domains.deallocate()
        counts.deallocate()
        times.deallocate()
    }
}

/// A sequence of programs: those of a transition, each for a number of frames, then the final one.
final class RenderPlan {
    struct Stage: BitwiseCopyable {
        var program: UnsafeMutablePointer<RenderProgram.Header>
        /// The frames of the stage; `Int.max` for the last.
        var frameCount: Int
    }
    struct Header: BitwiseCopyable {
        var stages: UnsafeMutablePointer<Stage>
        var count: Int
    }

    let header: UnsafeMutablePointer<Header>
    private let stages: UnsafeMutablePointer<Stage>
    private let programs: [RenderProgram]

    init(transitions: [(program: RenderProgram, frameCount: Int)] = [], final: RenderProgram) {
        programs = transitions.map(\.program) + [final]
        stages = .allocate(capacity: programs.count)
        for (i, program) in programs.enumerated() {
            let frames = i < transitions.count ? transitions[i].frameCount : Int.max
            (stages + i).initialize(to: Stage(program: program.header, frameCount: frames))
        }
        header = .allocate(capacity: 1)
        header.initialize(to: Header(stages: stages, count: programs.count))
    }

    deinit {
        header.deallocate()
        stages.deallocate()
    }
}
