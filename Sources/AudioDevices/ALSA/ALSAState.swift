// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// One direction as the device's thread uses it.
struct ALSAStream: BitwiseCopyable {
    let handle: OpaquePointer
    let sampleType: SampleType
    let channelCount: Int
    let bufferFrameCount: Int
    let frameByteCount: Int
    /// Room for one block of the device's.
    let bytes: UnsafeMutableRawPointer
    /// Capture: for each of the cycle's inputs the device's channel. Playback: for each of the device's the cycle's output.
    let map: UnsafeMutablePointer<Int>

    /// Frames that the device has for us, or room for, or a negative errno.
    func available() -> Int { snd_pcm_avail(handle) }
}

/// The state that the control thread and the device's thread share, in memory that does not move.
struct ALSAState: ~Copyable {
    enum Phase {
        static let starting = 0
        static let realTime = 1
        static let normal = 2
        static let stopping = 3
        static let failed = 4
    }

    let sampleRate: Double
    let blockFrameCount: Int
    let capture: ALSAStream?
    let playback: ALSAStream?
    let isLinked: Bool
    /// The cycle's buffers; without the direction there are none.
    let input: Channels
    let output: Channels
    let recorder: CallbackMonitor.Recorder
    /// Other outputs that go to the same channel of the device as an earlier one: added to it. −1 for all others.
    let mixInto: UnsafeMutablePointer<Int>
    let descriptors: UnsafeMutablePointer<pollfd>
    static let descriptorCapacity = 32
    /// Wakes the thread when it shall stop.
    let stopDescriptor: CInt

    let phase = Atomic<Int>(Phase.stopping)
    let failureCode = Atomic<Int>(0)
    let failureCall = Atomic<Int>(0)
    /// Frames from a converter to ALSA's buffer and back, beyond what the buffer holds.
    let inputExtra = Atomic<Int>(0)
    let outputExtra = Atomic<Int>(0)
    /// Frames that wait to be played right after a block was written.
    let fillFrameCount: Atomic<Int>

    // From here on: the control thread's until the thread starts, then that thread's.
    var callback: RenderCallback?
    var sampleTime: Int64 = 0
    var loop: DelayLockedLoop
    var dueTime = HostTime(nanoseconds: 0)
    /// No cycle has run since the streams were started.
    var isFirstCycle = true
    /// True if silence is to replace frames that playback lacks by the first cycle.
    var isFillingUp = false
    /// Blocks of silence still to be written before the first cycle.
    var prerollCount = 0
    /// A cycle has run since the thread was started.
    var hasRun = false
    /// A cycle was lost, so `sampleTime` shall jump.
    var isAfterGap = false
    var cycleCount = 0
    var flow = ALSAFlow()
    /// Frames that a plug-in is told make it worth waking us.
    var wakeFrameCount: Int
    var recoveryCount = 0  // since the last cycle
}

/// The owner's view of an ``ALSAState``.
struct ALSAMemory: @unchecked Sendable {  // each field's thread is named at the field
    let state: UnsafeMutablePointer<ALSAState>

    func deallocate() {
        for stream in [state.pointee.capture, state.pointee.playback] {
            stream?.bytes.deallocate()
            stream?.map.deallocate()
        }
        state.pointee.mixInto.deallocate()
        state.pointee.descriptors.deallocate()
        close(state.pointee.stopDescriptor)
        state.deinitialize(count: 1)
        state.deallocate()
    }
}
