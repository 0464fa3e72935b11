// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The render side of an ``InsertPoint``.
struct InsertState: ~Copyable {
    private let order: UnsafeMutablePointer<Atomic<UInt>>
    private let released: MessageQueue<InsertNode.Handle>.Writer
    private let outputs: (Channels, Channels)
    private let fadeLength: Int
    /// The node of the insert that is heard, also while a fade leaves it; nil for none.
    private(set) var current: InsertNode.Handle?
    /// The node to which a fade goes; nil without a fade.
    private(set) var next: InsertNode.Handle?
    /// The frames since ``next`` was received.
    private var progress = 0

    /// The seconds of a fade, as in ``VoiceFader``.
    private static let fadeTime = 0.005

    init(
        order: UnsafeMutablePointer<Atomic<UInt>>, released: MessageQueue<InsertNode.Handle>.Writer,
        outputs: (Channels, Channels), sampleRate: Double
    ) {
        self.order = order
        self.released = released
        self.outputs = outputs
        fadeLength = max(1, Int(Self.fadeTime * sampleRate))
    }

    @_noLocks
    mutating func process(_ block: Channels, _ cycle: IOCycle, _ frameCount: Int) {
        guard frameCount > 0 else { return }
        if next == nil { takeOrder() }
        guard let next else {
            guard let callback = current?.node.pointee.callback else { return }
            render(callback, block, outputs.0, cycle, frameCount)
            for c in 0..<block.count { copySamples(block[c], outputs.0[c], frameCount) }
            return
        }
        var (from, to) = (block, block)
        if let callback = current?.node.pointee.callback {
            render(callback, block, outputs.0, cycle, frameCount)
            from = outputs.0
        }
        if let callback = next.node.pointee.callback {
            render(callback, block, outputs.1, cycle, frameCount)
            to = outputs.1
        }
        // The old insert is heard until the latency of the new one has passed.
        let past = progress &- next.node.pointee.latency
        for c in 0..<block.count { crossfade(block[c], from[c], to[c], frameCount, past: past) }
        progress &+= frameCount
        if progress &- next.node.pointee.latency >= fadeLength { endFade() }
    }

    /// Applies the order without a fade, while no render thread calls.
    mutating func settle() {
        if next != nil { endFade() }
        takeOrder()
        if next != nil { endFade() }
    }

    @_noLocks
    private mutating func takeOrder() {
        guard order.pointee.load(ordering: .relaxed) != 0,
            let handle = InsertNode.Handle(bits: order.pointee.exchange(0, ordering: .acquiringAndReleasing))
        else { return }
        if handle.node.pointee.identity == (current?.node.pointee.identity ?? 0) {
            released.push(handle)
        } else {
            next = handle
            progress = 0
        }
    }

    @_noLocks
    private mutating func endFade() {
        if let current { released.push(current) }
        current = next
        next = nil
        if let none = current, none.node.pointee.callback == nil {
            released.push(none)
            current = nil
        }
    }

    @_noLocks
    private func render(
        _ callback: RenderCallback, _ block: Channels, _ output: Channels, _ cycle: IOCycle, _ frameCount: Int
    ) {
        for c in 0..<output.count { clearSamples(output[c], frameCount) }
        var inner = cycle
        inner.frameCount = frameCount
        inner.input = block
        inner.output = output
        callback(&inner)
    }

    /// - Parameter past: the fade's frames in earlier blocks; negative before the fade.
    @_noLocks
    private func crossfade(
        _ block: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ to: UnsafePointer<Float>,
        _ frameCount: Int, past: Int
    ) {
        let step = 1 / Float(fadeLength)
        var i = 0
        while i < frameCount {
            let frame = past &+ i &+ 1
            let share = frame <= 0 ? 0 : frame >= fadeLength ? 1 : Float(frame) * step
            block[i] = from[i] * (1 - share) + to[i] * share
            i &+= 1
        }
    }
}
