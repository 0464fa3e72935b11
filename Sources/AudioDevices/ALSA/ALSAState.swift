// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// One direction of a device, as the device's thread uses it.
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

    /// Returns the captured frames that can be read, or the played ones that can be written; a negative errno after a failure.
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
    /// For each of the cycle's outputs, the index of the earlier output to which it is added, since both are played on the same
    /// channel of the device; −1 for none.
    let mixInto: UnsafeMutablePointer<Int>
    let descriptors: UnsafeMutablePointer<pollfd>
    static let descriptorCapacity = 32
    /// The eventfd that wakes the device's thread when it must stop.
    let stopDescriptor: CInt

    let phase = Atomic<Int>(Phase.stopping)
    let failureCode = Atomic<Int>(0)
    let failureCall = Atomic<Int>(0)
    /// The driver's delays in frames: from the input converter to ALSA's buffer, and from ALSA's buffer to the output converter.
    let inputExtra = Atomic<Int>(0)
    let outputExtra = Atomic<Int>(0)
    /// The target for the frames in the playback buffer right after a block is written. On a plug-in, each restart of the streams
    /// doubles the target, up to the whole buffer.
    let fillFrameCount: Atomic<Int>

    // The variables below belong to the control thread until the device's thread starts, and then to the device's thread.
    var callback: RenderCallback?
    var sampleTime: Int64 = 0
    var loop: DelayLockedLoop
    var dueTime = HostTime(nanoseconds: 0)
    /// True from the start of the streams until they are aligned for the first cycle.
    var isFirstCycle = true
    /// True if the next cycle must first write silence for the frames played since the start of the streams.
    var isFillingUp = false
    /// The number of blocks of silence still to be written before the first cycle.
    var prerollCount = 0
    /// True if a cycle has run since the thread was started.
    var hasRun = false
    /// True if cycles were lost, so that `sampleTime` must jump at the next cycle.
    var isAfterGap = false
    var cycleCount = 0
    var flow = ALSAFlow()
    /// The available frames at which a plug-in wakes the thread.
    var wakeFrameCount: Int
    var recoveryCount = 0  // restarts of the streams since the last cycle
}

/// The pointer by which an ``ALSADevice`` owns its ``ALSAState``.
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
