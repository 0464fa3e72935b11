// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// The latency beyond this client's ports of one direction, as the server reports it: the sum of parts in three units.
struct PipeWireLatency: ~Copyable {
    /// The part in thousandths of a quantum.
    let quanta = Atomic<Int>(0)
    /// The part in frames at the graph's rate.
    let frames = Atomic<Int>(0)
    let nanoseconds = Atomic<Int>(0)

    /// Returns the latency in seconds, at most 10; one quantum if the server reports none, or no positive one.
    /// - Parameter frameCount: the frames of the quantum.
    @_noLocks
    func seconds(frameCount: Int, sampleRate: Double) -> Double {
        let block = Double(frameCount) / sampleRate
        let reported =
            Double(quanta.load(ordering: .relaxed)) * 0.001 * block
            + Double(frames.load(ordering: .relaxed)) / sampleRate
            + Double(nanoseconds.load(ordering: .relaxed)) * 1e-9
        return reported > 0 ? (reported > 10 ? 10 : reported) : block
    }
}

/// The state shared by the control thread, the loop's thread and the data thread, in memory that does not move: the data thread
/// must not retain a class.
struct PipeWireState: ~Copyable {
    /// The permission to call the callback.
    enum Gate {
        static var closed: Int { @_noLocks get { 0 } }
        static var open: Int { @_noLocks get { 1 } }
        /// The callback is running.
        static var busy: Int { @_noLocks get { 2 } }
    }

    let inputCount: Int
    let outputCount: Int
    /// The maximum frames of a cycle.
    let frameCapacity = IOCycle.maximumFrameCount
    let inputPorts: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    let outputPorts: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    let inputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    /// The silent samples for inputs without a link.
    let silence: UnsafeMutablePointer<Float>
    /// The memory for the samples of outputs without a link.
    let scratch: UnsafeMutablePointer<Float>

    let gate = Atomic<Int>(Gate.closed)
    let hasFailed = Atomic<Bool>(false)
    /// The frames of the last cycle.
    let frameCount = Atomic<Int>(0)
    /// The graph's sample rate in the last cycle, in hertz.
    let graphRate = Atomic<Int>(0)
    let cycleCount = Atomic<Int>(0)
    /// The time since which the graph has had another rate than this client, in nanoseconds of ``HostTime``; 0 while it has not.
    let otherRateSince = Atomic<Int64>(0)
    /// The data thread's id; 0 before the first cycle.
    let thread = Atomic<Int>(0)
    let inputLatency = PipeWireLatency()
    let outputLatency = PipeWireLatency()

    // The variables below belong to the control thread until the gate opens, and then to the data thread.
    var sampleRate = 48_000.0
    var recorder: CallbackMonitor.Recorder?
    var callback: RenderCallback?
    var isFirstCycle = true
    var sampleTime: Int64 = 0
    var loop = DelayLockedLoop(sampleRate: 48_000)

    // The variables below belong to the data thread, and to the control thread while there is no filter.
    var isFollowing = false
    var clock: UInt32 = 0  // the driver whose clock the last cycle ran on
    var quantum = 0  // the frames of the last cycle
    var clockTime: Int64 = 0  // the driver's time in the last cycle, nanoseconds
    var nextPosition: UInt64 = 0  // the driver's position at which the next cycle should begin, frames
    var nextTime: Int64 = 0  // the driver's time at which the next cycle should begin, nanoseconds
    var seeminglyLost = 0.0  // the frames of a cycle that seems lost, counted one cycle later

    init(inputCount: Int, outputCount: Int) {
        self.inputCount = inputCount
        self.outputCount = outputCount
        inputPorts = .allocate(capacity: max(1, inputCount))
        inputPorts.initialize(repeating: nil, count: max(1, inputCount))
        outputPorts = .allocate(capacity: max(1, outputCount))
        outputPorts.initialize(repeating: nil, count: max(1, outputCount))
        inputs = .allocate(capacity: max(1, inputCount))
        outputs = .allocate(capacity: max(1, outputCount))
        let frames = frameCapacity
        silence = .allocate(capacity: frames)
        silence.initialize(repeating: 0, count: frames)
        scratch = .allocate(capacity: frames * max(1, outputCount))
        scratch.initialize(repeating: 0, count: frames * max(1, outputCount))
    }

    deinit {
        inputPorts.deallocate()
        outputPorts.deallocate()
        inputs.deallocate()
        outputs.deallocate()
        silence.deallocate()
        scratch.deallocate()
    }
}

/// The pointer by which a ``PipeWireClient`` owns its ``PipeWireState``.
struct PipeWireMemory: @unchecked Sendable {  // each field's thread is named at the field
    let state: UnsafeMutablePointer<PipeWireState>

    init(inputCount: Int, outputCount: Int) {
        state = .allocate(capacity: 1)
        state.initialize(to: PipeWireState(inputCount: inputCount, outputCount: outputCount))
    }

    /// Closes the gate, and waits for a running callback, but not for the server. When this method returns, no callback runs, and
    /// none will come until the gate is opened again.
    func closeGate() {
        while true {
            let (isClosed, gate) = state.pointee.gate.compareExchange(
                expected: PipeWireState.Gate.open, desired: PipeWireState.Gate.closed, ordering: .acquiringAndReleasing)
            if isClosed || gate == PipeWireState.Gate.closed { return }
            usleep(50)
        }
    }

    /// Frees the memory. Call it when no filter is left.
    func deallocate() {
        state.deinitialize(count: 1)
        state.deallocate()
    }
}
