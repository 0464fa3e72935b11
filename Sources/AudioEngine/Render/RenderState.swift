// SPDX-License-Identifier: Apache-2.0

/// The state that a node keeps between blocks: memory of the render thread, and the function that uses it.
///
/// Made and freed on the control thread. Programs keep their nodes' states alive, so an old program's go home with it.
class RenderState {
    let function: RenderFunction
    let pointer: UnsafeMutableRawPointer
    /// Frames by which output lags behind input, at the node's rate.
    var latency: Double { 0 }

    fileprivate init(_ function: @escaping RenderFunction, _ pointer: UnsafeMutableRawPointer) {
        self.function = function
        self.pointer = pointer
    }
}

/// A state of one type.
final class RenderMemory<Memory: ~Copyable>: RenderState {
    let memory: UnsafeMutablePointer<Memory>
    private let kept: [AnyObject]
    private let stated: Double
    override var latency: Double { stated }

    /// - Parameters:
    ///   - kept: what `memory` points to.
    init(
        _ memory: consuming Memory, latency: Double = 0, keeping kept: [AnyObject] = [],
        function: @escaping RenderFunction
    ) {
        let pointer = UnsafeMutablePointer<Memory>.allocate(capacity: 1)
        pointer.initialize(to: memory)
        self.memory = pointer
        self.kept = kept
        stated = latency
        super.init(function, UnsafeMutableRawPointer(pointer))
    }

    deinit {
        memory.deinitialize(count: 1)
        memory.deallocate()
    }
}
