// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The render side of an ``InsertPoint``.
///
/// An exchange has three steps: the input of the new insert fades in, because a reverb would repeat an abrupt beginning; the
/// insert's latency passes; the output fades from the old insert to the new one.
struct InsertState: ~Copyable {
    private let order: UnsafeMutablePointer<Atomic<UInt>>
    private let released: MessageQueue<InsertNode.Handle>.Writer
    private let outputs: (Channels, Channels)
    /// The memory of the new insert's input while it fades in.
    private let fadingInput: Channels
    private let fadeLength: Int
    /// The node of the insert that is heard, also while a fade leaves it; nil for none.
    private(set) var current: InsertNode.Handle?
    /// The node to which a fade goes; nil without a fade.
    private(set) var next: InsertNode.Handle?
    /// The frames since ``next`` was received.
    private var progress = 0

    var hasInsert: Bool {
        @_noLocks get { current?.node.pointee.callback != nil || next?.node.pointee.callback != nil }
    }

    /// The seconds of a fade.
    private static let fadeTime = 0.01

    init(
        order: UnsafeMutablePointer<Atomic<UInt>>, released: MessageQueue<InsertNode.Handle>.Writer,
        outputs: (Channels, Channels), fadingInput: Channels, sampleRate: Double
    ) {
        self.order = order
        self.released = released
        self.outputs = outputs
        self.fadingInput = fadingInput
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
        var past = progress
        if let callback = next.node.pointee.callback {
            render(callback, fadeIn(block, frameCount), outputs.1, cycle, frameCount)
            to = outputs.1
            past = progress &- fadeLength &- next.node.pointee.latency
        }
        for c in 0..<block.count { crossfade(block[c], from[c], to[c], frameCount, past: past) }
        progress &+= frameCount
        if past &+ frameCount >= fadeLength { endFade() }
    }

    /// Returns the input of the new insert for a block.
    @_noLocks
    private func fadeIn(_ block: Channels, _ frameCount: Int) -> Channels {
        guard progress < fadeLength else { return block }
        for c in 0..<block.count {
            for i in 0..<frameCount { fadingInput[c][i] = block[c][i] * fadeShare(progress &+ i &+ 1) }
        }
        return fadingInput
    }

    /// Returns the progress of a fade after a number of frames, 0 to 1. The curve is smooth at both ends, like that of
    /// AudioEngine's parameter ramps.
    @_noLocks
    private func fadeShare(_ frame: Int) -> Float {
        if frame <= 0 { return 0 }
        if frame >= fadeLength { return 1 }
        let linear = Float(frame) / Float(fadeLength)
        return linear * linear * linear * (linear * (6 * linear - 15) + 10)
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
        var i = 0
        while i < frameCount {
            let share = fadeShare(past &+ i &+ 1)
            block[i] = from[i] * (1 - share) + to[i] * share
            i &+= 1
        }
    }
}
