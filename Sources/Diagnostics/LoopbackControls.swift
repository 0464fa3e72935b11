// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The values that the control thread and the render thread of a ``Loopback`` exchange.
struct LoopbackControls: ~Copyable {
    /// The state of the last probe.
    enum Outcome {
        static var none: Int { @_noLocks get { 0 } }
        static var running: Int { @_noLocks get { 1 } }
        static var captured: Int { @_noLocks get { 2 } }
        static var interrupted: Int { @_noLocks get { 3 } }
    }

    /// The bits of the gain, a `Float`.
    let gain = Atomic<UInt32>(Float(1).bitPattern)
    /// The extra delay in frames.
    let delay = Atomic<Int>(0)
    /// Times that the gain was set so far.
    let gainSettings = Atomic<Int>(0)
    /// Requested probes so far.
    let requests = Atomic<Int>(0)
    /// The ``Outcome`` of the last probe. The control thread sets it to running, the render thread to captured or interrupted,
    /// and the control thread back to none.
    let outcome = Atomic<Int>(Outcome.none)
    /// The device's frame counter at the probe's first frame.
    let probeSampleTime = Atomic<Int64>(0)
    /// Detected feedbacks so far.
    let howls = Atomic<Int>(0)
    /// The bits of a `Float`, the factor by which feedback has reduced the gain.
    let reduction = Atomic<UInt32>(Float(1).bitPattern)
}
