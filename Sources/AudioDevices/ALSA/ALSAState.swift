// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// One direction's state on the device's thread.
struct ALSAStream: BitwiseCopyable {
    let handle: OpaquePointer
    let sampleType: SampleType
    let channelCount: Int
    let bufferFrameCount: Int
    let frameByteCount: Int
    /// Memory for one block of the device.
    let bytes: UnsafeMutableRawPointer
    /// For capture, the device's channel for each of the cycle's inputs; for playback, the cycle's output for each of the
    /// device's channels.
    let map: UnsafeMutablePointer<Int>

    /// Returns the frames that the device has, or has room for, or a negative errno.
    func available() -> Int { snd_pcm_avail(handle) }
}

/// The state shared by the control thread and the device's thread, in memory that does not move.
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
    /// The cycle's buffers; none for a missing direction.
    let input: Channels
    let output: Channels
    let recorder: CallbackMonitor.Recorder
    /// The earlier output on the same channel of the device, to which an output is added; −1 for none.
    let mixInto: UnsafeMutablePointer<Int>
    let descriptors: UnsafeMutablePointer<pollfd>
    static let descriptorCapacity = 32
    /// Wakes the thread to stop it.
    let stopDescriptor: CInt

    let phase = Atomic<Int>(Phase.stopping)
    let failureCode = Atomic<Int>(0)
    let failureCall = Atomic<Int>(0)
    /// The frames from a converter to ALSA's buffer and back, beyond the buffer.
    let inputExtra = Atomic<Int>(0)
    let outputExtra = Atomic<Int>(0)
    /// The target for the frames in playback's buffer right after a block is written. Except with a card, each xrun doubles it.
    let fillFrameCount: Atomic<Int>

    // From here on: the control thread's until the thread starts, then that thread's.
    var callback: RenderCallback?
    var sampleTime: Int64 = 0
    var loop: DelayLockedLoop
    var dueTime = HostTime(nanoseconds: 0)
    /// True if no cycle has run since the streams were started.
    var isFirstCycle = true
    /// True if silence is to replace frames that playback lacks by the first cycle.
    var isFillingUp = false
    /// The blocks of silence to write before the first cycle.
    var prerollCount = 0
    /// True if a cycle has run since the thread was started.
    var hasRun = false
    /// True if a cycle was lost, so that `sampleTime` must jump.
    var isAfterGap = false
    var cycleCount = 0
    var flow = ALSAFlow()
    /// The available frames at which a plug-in wakes the thread.
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
