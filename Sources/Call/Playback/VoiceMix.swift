// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotPlayout
import Synchronization

/// An order from another thread to the callback: to play the voice at one place, or to fade it out.
struct VoiceOrder: BitwiseCopyable {
    let index: Int
    let isHeard: Bool
    /// The voice that must be heard before this one fades out; negative for none.
    var successor = -1
}

/// A place in the mix.
struct VoiceSlot: ~Copyable {
    /// The requested gain, as the bits of a Float. Its memory is separate, because the slot belongs to the callback.
    let gain: UnsafeMutablePointer<Atomic<UInt32>>
    let level: LatestValue<VoiceLevel>.Writer
    var meter: VoiceMeter
    var fader: VoiceFader
    var renderer: Playout.Renderer?
    var isHeard = false
    var isLeaving = false
    /// The voice that must be heard before this one leaves; negative for none.
    var successor = -1
    /// The frames for which this voice still waits for its successor.
    var waitFrames = 0
    var ramp: GainRamp

    init(level: LatestValue<VoiceLevel>.Writer, gain: UnsafeMutablePointer<Atomic<UInt32>>, sampleRate: Double) {
        self.level = level
        self.gain = gain
        meter = VoiceMeter(sampleRate: sampleRate)
        fader = VoiceFader(sampleRate: sampleRate, isHeard: false)
        ramp = GainRamp(0, sampleRate: sampleRate)
    }
}

/// The render side of a ``PeerMixer``.
struct VoiceMix: ~Copyable {
    /// The maximum number of voices, including those that fade out.
    static var capacity: Int { @_noLocks get { 16 } }
    /// The maximum seconds for which a removed voice waits for its successor.
    private static var successorTimeout: Double { @_noLocks get { 0.3 } }
    /// The seconds of concealment after which a removed voice fades out even if its successor is not heard: Opus conceals longer
    /// gaps with noise.
    private static var longestConcealment: Double { @_noLocks get { 0.04 } }

    let slots: UnsafeMutablePointer<VoiceSlot>
    let orders: MessageQueue<VoiceOrder>.Reader
    let released: MessageQueue<Int>.Writer
    let scratch: Channels
    private var tap: SoundTap.Writer
    let sampleRate: Double

    init(
        slots: UnsafeMutablePointer<VoiceSlot>, orders: MessageQueue<VoiceOrder>.Reader,
        released: MessageQueue<Int>.Writer, scratch: Channels, tap: consuming SoundTap.Writer, sampleRate: Double
    ) {
        self.slots = slots
        self.orders = orders
        self.released = released
        self.scratch = scratch
        self.tap = tap
        self.sampleRate = sampleRate
    }

    @_noLocks
    mutating func pull(_ mix: Channels, _ frameCount: Int, _ sampleTime: Int64, _ hostTime: HostTime) {
        takeOrders()
        for c in 0..<mix.count { clearSamples(mix[c], frameCount) }
        guard frameCount > 0 else { return }
        for index in 0..<VoiceMix.capacity where slots[index].isHeard {
            guard let renderer = slots[index].renderer else { continue }
            renderer.pull(scratch, frameCount: frameCount, sampleTime: sampleTime, hostTime: hostTime)
            slots[index].meter.update(Level(of: scratch, frameCount: frameCount), frameCount: frameCount)
            slots[index].level.store(slots[index].meter.level)
            if let position = renderer.position {
                let cycle = CallCycle(sampleTime: sampleTime, frameCount: frameCount, hostTime: hostTime)
                tap.write(scratch, TappedBlock(cycle: cycle, isHeard: true, voice: index, streamPosition: position))
            }
            // The voice fades in at its first sound, because a stream may begin in the middle of a word.
            slots[index].fader.begin(scratch, frameCount)
            let isLeaving = updateLeaving(index, frameCount)
            let gain = isLeaving ? 0 : Float(bitPattern: slots[index].gain.pointee.load(ordering: .relaxed))
            slots[index].ramp.begin(gain, frameCount)
            slots[index].ramp.add(scratch, to: mix, frameCount)
            if isLeaving, slots[index].ramp.isSilent { release(index) }
        }
    }

    /// Applies pending orders without a fade, while no thread pulls.
    mutating func settle() {
        takeOrders()
        for index in 0..<VoiceMix.capacity where slots[index].isHeard {
            if slots[index].isLeaving || slots[index].successor >= 0 { release(index) }
        }
    }

    /// Ends the wait for a voice's successor if it is heard or too late. Returns true if the voice fades out.
    @_noLocks
    private mutating func updateLeaving(_ index: Int, _ frameCount: Int) -> Bool {
        let successor = slots[index].successor
        guard successor >= 0 else { return slots[index].isLeaving }
        slots[index].waitFrames &-= frameCount
        let concealedTime = slots[index].renderer?.concealedTime ?? 0
        if slots[index].waitFrames <= 0 || slots[successor].fader.isAudible
            || concealedTime > VoiceMix.longestConcealment
        {
            slots[index].isLeaving = true
            slots[index].successor = -1
        }
        return slots[index].isLeaving
    }

    @_noLocks
    private mutating func takeOrders() {
        while let order = orders.pop() {
            slots[order.index].isHeard = true
            slots[order.index].isLeaving = !order.isHeard && order.successor < 0
            slots[order.index].successor = order.successor
            slots[order.index].waitFrames = Int(VoiceMix.successorTimeout * sampleRate)
            if order.isHeard {
                slots[order.index].ramp.reset(0)
                slots[order.index].meter = VoiceMeter(sampleRate: sampleRate)
                slots[order.index].fader = VoiceFader(sampleRate: sampleRate, isHeard: false)
            }
        }
    }

    @_noLocks
    private mutating func release(_ index: Int) {
        slots[index].isHeard = false
        slots[index].successor = -1
        slots[index].renderer = nil
        slots[index].level.store(VoiceLevel())
        released.push(index)
    }
}
