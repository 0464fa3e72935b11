// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotPlayout
import Synchronization

/// Mixes the voices of a call in its callback. Voices come, go and change their gain without a click.
///
/// Any thread except the callback's adds, changes and removes voices; the callback never waits. Memory that the callback may
/// still read is freed later.
package final class PeerMixer: Sendable {
    package struct Place: Hashable, Sendable { fileprivate let index: Int }

    /// The callback's handle; must not outlive the mixer.
    let renderer: Renderer
    private let orders: MessageQueue<VoiceOrder>
    private let released: MessageQueue<Int>
    private let slots: Slots
    private let scratch: AudioBuffer
    private let owned: Mutex<Owned>

    /// The memory of the callback. Other threads write only the gains, and in `add` the renderer of a place that is empty.
    private struct Slots: @unchecked Sendable {
        let base: UnsafeMutablePointer<VoiceSlot>
        let gains: UnsafeMutablePointer<Atomic<UInt32>>
    }
    /// The state of the control threads, used under a lock.
    private struct Owned {
        var playouts: [Playout?]
        var levels: [LatestValue<VoiceLevel>]
        /// For each place, true from the removal of its voice until the callback confirms the removal.
        var isLeaving: [Bool]
        var isPulled = true
    }

    init(channelCount: Int, deviceRate: Double) {
        orders = MessageQueue(capacity: 4 * VoiceMix.capacity)
        released = MessageQueue(capacity: 4 * VoiceMix.capacity)
        let base = UnsafeMutablePointer<VoiceSlot>.allocate(capacity: VoiceMix.capacity)
        let gains = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: VoiceMix.capacity)
        var levels: [LatestValue<VoiceLevel>] = []
        for index in 0..<VoiceMix.capacity {
            levels.append(LatestValue(VoiceLevel()))
            (gains + index).initialize(to: Atomic(0))
            (base + index).initialize(
                to: VoiceSlot(level: levels[index].writer, gain: gains + index, sampleRate: deviceRate))
        }
        slots = Slots(base: base, gains: gains)
        owned = Mutex(
            Owned(
                playouts: Array(repeating: nil, count: VoiceMix.capacity), levels: levels,
                isLeaving: Array(repeating: false, count: VoiceMix.capacity)))
        scratch = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        renderer = Renderer(state: .allocate(capacity: 1))
        renderer.state.initialize(
            to: VoiceMix(
                slots: base, orders: orders.reader, released: released.writer, scratch: scratch.channels,
                sampleRate: deviceRate))
    }

    deinit {
        renderer.state.deinitialize(count: 1)
        renderer.state.deallocate()
        slots.base.deinitialize(count: VoiceMix.capacity)
        slots.base.deallocate()
        slots.gains.deinitialize(count: VoiceMix.capacity)
        slots.gains.deallocate()
    }

    /// Adds a voice from the next block on.
    /// - Parameter gain: a factor.
    /// - Returns: the voice's place; nil if all places are taken, or if the callback has too many changes to read.
    package func add(_ playout: Playout, gain: Float = 1) -> Place? {
        collect()
        return owned.withLock { owned in
            guard let index = owned.playouts.firstIndex(where: { $0 == nil }) else { return nil }
            slots.gains[index].store(gain.bitPattern, ordering: .relaxed)
            slots.base[index].renderer = playout.renderer  // nobody else looks at an empty place
            guard orders.writer.push(VoiceOrder(index: index, isHeard: true)) else { return nil }
            owned.playouts[index] = playout
            return Place(index: index)
        }
    }

    /// Sets the gain of a voice as a factor. A change is a ramp over 5 ms, or over a block if that is longer.
    package func setGain(_ gain: Float, at place: Place) {
        slots.gains[place.index].store(gain.bitPattern, ordering: .relaxed)
    }

    /// Returns the level of a voice, before its gain.
    package func level(at place: Place) -> VoiceLevel { owned.withLock { $0.levels[place.index].load() } }

    /// Fades a voice out over 5 ms, or over a block if that is longer; then its place is free.
    package func remove(_ place: Place) {
        owned.withLock { owned in
            guard owned.playouts[place.index] != nil, !owned.isLeaving[place.index] else { return }
            owned.isLeaving[place.index] = orders.writer.push(VoiceOrder(index: place.index, isHeard: false))
        }
        collect()
    }

    /// Removes a voice as ``remove(_:)`` does, as soon as the voice that takes its place is heard: until then the old one conceals.
    package func remove(_ place: Place, after successor: Place) {
        owned.withLock { owned in
            guard owned.playouts[place.index] != nil, !owned.isLeaving[place.index] else { return }
            owned.isLeaving[place.index] = orders.writer.push(
                VoiceOrder(index: place.index, isHeard: false, successor: successor.index))
        }
        collect()
    }

    /// Sets whether a callback may pull. While none may, voices are removed without a fade.
    func setPulled(_ isPulled: Bool) {
        owned.withLock { $0.isPulled = isPulled }
        collect()
    }

    /// Frees the places and playouts that the callback no longer uses.
    func collect() {
        owned.withLock { owned in
            if !owned.isPulled { renderer.state.pointee.settle() }
            while let index = released.pop() {
                owned.playouts[index] = nil
                owned.isLeaving[index] = false
            }
        }
    }

    /// The render thread's handle.
    struct Renderer: @unchecked Sendable {  // one thread pulls; the owner frees once that has stopped
        fileprivate let state: UnsafeMutablePointer<VoiceMix>

        /// Renders the next block of the mix.
        /// - Parameters:
        ///   - mix: as many channels as the mixer has, all overwritten.
        ///   - sampleTime: the device's frame counter at the first frame.
        ///   - hostTime: the nominal start of the cycle.
        @_noLocks
        func pull(_ mix: Channels, frameCount: Int, sampleTime: Int64, hostTime: HostTime) {
            state.pointee.pull(mix, frameCount, sampleTime, hostTime)
        }
    }
}

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
    /// The frames for which this voice waits for its successor.
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
    /// The seconds for which a removed voice waits for its successor at most.
    private static var longestWait: Double { @_noLocks get { 0.3 } }
    /// The seconds of concealment after which a removed voice fades out even if its successor is not heard: Opus conceals more
    /// with noise.
    private static var longestConcealment: Double { @_noLocks get { 0.04 } }

    let slots: UnsafeMutablePointer<VoiceSlot>
    let orders: MessageQueue<VoiceOrder>.Reader
    let released: MessageQueue<Int>.Writer
    let scratch: Channels
    let sampleRate: Double

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
            // The voice fades in at its first sound, because a stream may begin in the middle of a word.
            slots[index].fader.begin(scratch, frameCount)
            let isLeaving = leaves(index, frameCount)
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

    /// Returns true if a voice fades out: it was removed, and its successor is heard, if it waits for one.
    @_noLocks
    private mutating func leaves(_ index: Int, _ frameCount: Int) -> Bool {
        let successor = slots[index].successor
        guard successor >= 0 else { return slots[index].isLeaving }
        slots[index].waitFrames &-= frameCount
        let concealedTime = slots[index].renderer?.concealedTime ?? 0
        if slots[index].waitFrames <= 0 || !slots[successor].fader.isSilent
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
            slots[order.index].waitFrames = Int(VoiceMix.longestWait * sampleRate)
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
