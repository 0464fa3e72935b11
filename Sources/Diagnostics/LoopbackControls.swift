// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The values that the control thread and the render thread of a ``Loopback`` exchange.
struct LoopbackControls: ~Copyable {
    /// The result of the last probe.
    enum Outcome {
        static var none: Int { @_noLocks get { 0 } }
        static var running: Int { @_noLocks get { 1 } }
        static var captured: Int { @_noLocks get { 2 } }
        static var interrupted: Int { @_noLocks get { 3 } }
    }

    /// The gain's `Float` bits.
    let gain = Atomic<UInt32>(Float(1).bitPattern)
    /// Frames of extra delay.
    let delay = Atomic<Int>(0)
    /// Times that the gain was set anew.
    let gainSettings = Atomic<Int>(0)
    /// Probes asked for.
    let requests = Atomic<Int>(0)
    /// Set to running by the control thread, to an end by the render thread, back to none by the control thread.
    let outcome = Atomic<Int>(Outcome.none)
    /// The device's frame counter at the probe's first frame.
    let probeSampleTime = Atomic<Int64>(0)
    /// Times that a howl was noticed.
    let howls = Atomic<Int>(0)
    /// The gain that is left after howls, as `Float` bits.
    let reduction = Atomic<UInt32>(Float(1).bitPattern)
}
