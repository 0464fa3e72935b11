// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// Adds the connections at one input during a change of the graph: fades removed connections out and new ones in.
struct FadeMixState: ~Copyable {
    enum Fade: Int, BitwiseCopyable {
        case steady
        case fadingIn
        case fadingOut
    }

    private let fades: UnsafeMutablePointer<Fade>
    private let length: Int
    private let curve: UnsafeMutablePointer<Float>  // a raised cosine from 0 to 1
    private var position: Int

    /// - Parameters:
    ///   - hold: the frames before the fades begin, at the rate of the connections.
    ///   - length: the frames of the fades.
    init(_ fades: [Fade], hold: Int, length: Int) {
        position = -hold
        self.fades = .allocate(capacity: max(1, fades.count))
        for (i, fade) in fades.enumerated() { (self.fades + i).initialize(to: fade) }
        self.length = max(1, length)
        curve = .allocate(capacity: self.length + 1)
        for i in 0...self.length {
            (curve + i).initialize(to: Float(0.5 - 0.5 * earshot_cos(Double.pi * Double(i) / Double(self.length))))
        }
    }

    deinit {
        fades.deallocate()
        curve.deallocate()
    }

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: FadeMixState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    @_noLocks
    mutating func process(_ call: RenderCall) {
        let to = call.outputs[0]
        to.silence(call.frameCount)
        for k in 0..<call.inputCount where !call.inputs[k].isSilent {
            to.isSilent = false
            let from = call.inputs[k].channels
            for c in 0..<to.channels.count where from.count == 1 || c < from.count {
                add(from[from.count == 1 ? 0 : c], to.channels[c], call.frameCount, fades[k])
            }
        }
        position &+= call.frameCount
    }

    @_noLocks
    private func add(
        _ from: UnsafeMutablePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ count: Int, _ fade: Fade
    ) {
        if fade == .steady { return addSamples(to, from, count, gain: 1) }
        for i in 0..<count {
            var at = position &+ i
            if at > length { at = length }
            if at < 0 { at = 0 }
            switch fade {
            case .steady: to[i] += from[i]
            case .fadingIn: to[i] += from[i] * curve[at]
            case .fadingOut: to[i] += from[i] * (1 - curve[at])
            }
        }
    }
}
