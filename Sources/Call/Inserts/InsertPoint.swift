// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The place of a ``CallInsert`` in a call's sound. Any thread except the render thread exchanges it.
///
/// An exchange is an order in an atomic: a new order replaces one that the render thread has not read. An insert that is no
/// longer rendered returns by a queue and is freed by the next ``set(_:)`` or ``collect()``.
package final class InsertPoint: Sendable {
    /// The render thread's handle; must not outlive this object.
    let renderer: Renderer
    private let order: Order
    private let released: MessageQueue<InsertNode.Handle>
    private let buffers: [AudioBuffer]
    private let owned = LockedValue(Owned())
    private let sampleRate: Double

    private struct Order: @unchecked Sendable {  // points to an atomic
        let bits: UnsafeMutablePointer<Atomic<UInt>>
    }
    private struct Owned {
        var insert: CallInsert?
        var isRendered = true
    }

    init(channelCount: Int, sampleRate: Double) {
        self.sampleRate = sampleRate
        order = Order(bits: .allocate(capacity: 1))
        order.bits.initialize(to: Atomic(0))
        // Each exchange empties the queue. Until the next exchange at most three nodes return: two of a fade, and one that
        // changes nothing.
        released = MessageQueue(capacity: 8)
        buffers = (0..<3).map { _ in
            AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        }
        renderer = Renderer(state: .allocate(capacity: 1))
        renderer.state.initialize(
            to: InsertState(
                order: order.bits, released: released.writer, outputs: (buffers[0].channels, buffers[1].channels),
                fadingInput: buffers[2].channels, sampleRate: sampleRate))
    }

    deinit {
        let pending = InsertNode.Handle(bits: order.bits.pointee.load(ordering: .acquiring))
        let state = renderer.state
        for handle in [pending, state.pointee.current, state.pointee.next] { handle?.free() }
        while let handle = released.pop() { handle.free() }
        state.deinitialize(count: 1)
        state.deallocate()
        order.bits.deinitialize(count: 1)
        order.bits.deallocate()
    }

    /// The current insert; nil for none.
    package var insert: CallInsert? { owned.withLock { $0.insert } }

    /// Fades to another insert; nil for none. Does nothing if the insert is current already.
    package func set(_ insert: CallInsert?) {
        let handles: [InsertNode.Handle] = owned.withLock { owned in
            guard owned.insert !== insert else { return [] }
            owned.insert = insert
            let returned = drain()
            let node = InsertNode.Handle(insert, sampleRate: sampleRate)
            let old = order.bits.pointee.exchange(node.bits, ordering: .acquiringAndReleasing)
            return returned + (InsertNode.Handle(bits: old).map { [$0] } ?? [])
        }
        for handle in handles { handle.free() }
        collect()
    }

    /// Sets whether a render thread may call. While none may, an exchange takes effect without a fade.
    func setRendered(_ isRendered: Bool) {
        owned.withLock { $0.isRendered = isRendered }
        collect()
    }

    /// Frees the inserts that are no longer rendered.
    package func collect() {
        let handles: [InsertNode.Handle] = owned.withLock { owned in
            if !owned.isRendered { renderer.state.pointee.settle() }
            return drain()
        }
        // The lock is not held here, because releasing an insert's owner may call the session.
        for handle in handles { handle.free() }
    }

    /// Reads the returned nodes, under the lock: the queue has one reader at a time.
    private func drain() -> [InsertNode.Handle] {
        var handles: [InsertNode.Handle] = []
        while let handle = released.pop() { handles.append(handle) }
        return handles
    }

    /// The render thread's handle.
    struct Renderer: @unchecked Sendable {  // one thread renders; the owner frees once that has stopped
        fileprivate let state: UnsafeMutablePointer<InsertState>

        /// True if there is an insert, also while its fade begins or ends.
        var hasInsert: Bool { @_noLocks get { state.pointee.hasInsert } }

        /// Processes a block in place. Without an insert the block is not changed.
        /// - Parameter cycle: the device's cycle, for its clock and latencies.
        @_noLocks
        func process(_ block: Channels, _ cycle: IOCycle, frameCount: Int) {
            state.pointee.process(block, cycle, frameCount)
        }
    }
}

/// An insert on its way to the render thread and back; a node without one orders the thread to render none.
struct InsertNode {
    let insert: CallInsert?
    let callback: RenderCallback?
    /// Identifies an insert without retaining it.
    let identity: UInt
    /// The frames from the callback's first call until its sound comes.
    let latency: Int

    /// Owns a node until ``free()``.
    struct Handle: BitwiseCopyable, @unchecked Sendable {  // handed over between threads, not shared
        let node: UnsafeMutablePointer<InsertNode>

        init(_ insert: CallInsert?, sampleRate: Double) {
            node = .allocate(capacity: 1)
            node.initialize(
                to: InsertNode(
                    insert: insert, callback: insert?.callback,
                    identity: insert.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0,
                    latency: Int(((insert?.latency ?? 0) * sampleRate).rounded(.up))))
        }

        /// Creates the handle of a node from the node's address; nil for 0.
        @_noLocks
        init?(bits: UInt) {
            guard let node = UnsafeMutablePointer<InsertNode>(bitPattern: bits) else { return nil }
            self.node = node
        }

        var bits: UInt { UInt(bitPattern: node) }

        func free() {
            node.deinitialize(count: 1)
            node.deallocate()
        }
    }
}
