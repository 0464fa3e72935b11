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
    package struct Place: Hashable, Sendable { let index: Int }

    /// The callback's handle; must not outlive the mixer.
    let renderer: Renderer
    /// The voices for ``SameRoomListener``: one channel of each.
    let tap: SoundTap
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
        tap = SoundTap(channelCount: 1, deviceRate: deviceRate)
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
                tap: tap.makeWriter(), sampleRate: deviceRate))
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

    /// Removes a voice as ``remove(_:)`` does, but only when its successor is heard. Until then the old voice conceals.
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
