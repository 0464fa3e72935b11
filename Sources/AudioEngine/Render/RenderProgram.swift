// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The render thread's program: steps in order, with their buffers. The steps never change.
///
/// Created and freed on the control thread. The render thread gets only ``header``.
final class RenderProgram {
    /// The maximum frames of a slice. A device's block is rendered in slices, so that buffers stay in the first-level cache, and
    /// the result does not depend on the block size.
    static let sliceFrameCount = 256

    struct Header: BitwiseCopyable {
        var steps: UnsafeMutablePointer<RenderStep>
        var stepCount: Int
        /// The sample rate of each domain in whole hertz; the first is the engine's.
        var rates: UnsafeMutablePointer<Int64>
        var counts: UnsafeMutablePointer<Int>
        var times: UnsafeMutablePointer<Int64>
        var domainCount: Int
    }

    let header: UnsafeMutablePointer<Header>
    private let steps: UnsafeMutablePointer<RenderStep>
    private let buses: UnsafeMutablePointer<RenderBus>
    private let domainRates: UnsafeMutablePointer<Int64>
    private let counts: UnsafeMutablePointer<Int>
    private let times: UnsafeMutablePointer<Int64>
    /// The objects whose memory the steps use.
    private let retainedObjects: [AnyObject]

    struct Draft {
        var function: RenderFunction
        var state: UnsafeMutableRawPointer
        var inputs: [RenderBus]
        var outputs: [RenderBus]
        var domain: Int
    }

    init(_ drafts: [Draft], rates: [Int64], keeping retainedObjects: [AnyObject]) {
        self.retainedObjects = retainedObjects
        steps = .allocate(capacity: max(1, drafts.count))
        buses = .allocate(capacity: max(1, drafts.reduce(0) { $0 + $1.inputs.count + $1.outputs.count }))
        domainRates = .allocate(capacity: rates.count)
        counts = .allocate(capacity: rates.count)
        times = .allocate(capacity: rates.count)
        var nextBus = buses
        for (i, draft) in drafts.enumerated() {
            let inputs = nextBus
            for bus in draft.inputs { nextBus.initialize(to: bus); nextBus += 1 }
            let outputs = nextBus
            for bus in draft.outputs { nextBus.initialize(to: bus); nextBus += 1 }
            (steps + i).initialize(
                to: RenderStep(
                    function: draft.function, state: draft.state, inputs: inputs, inputCount: draft.inputs.count,
                    outputs: outputs, outputCount: draft.outputs.count, domain: draft.domain))
        }
        for (i, rate) in rates.enumerated() {
            (domainRates + i).initialize(to: rate)
            (counts + i).initialize(to: 0)
            (times + i).initialize(to: 0)
        }
        header = .allocate(capacity: 1)
        header.initialize(
            to: Header(
                steps: steps, stepCount: drafts.count, rates: domainRates, counts: counts, times: times,
                domainCount: rates.count))
    }

    deinit {
        header.deallocate()
        steps.deallocate()
        buses.deallocate()
        domainRates.deallocate()
        counts.deallocate()
        times.deallocate()
    }
}

/// A sequence of programs: those of a transition, each for a number of frames, then the final one.
final class RenderPlan {
    struct Stage: BitwiseCopyable {
        var program: UnsafeMutablePointer<RenderProgram.Header>
        /// The frames of the stage; `Int.max` for the plan's last stage.
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
