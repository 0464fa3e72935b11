// SPDX-License-Identifier: Apache-2.0

/// The state of a node between blocks: memory of the render thread and the function that uses it.
///
/// Created and freed on the control thread. A program retains its nodes' states, which are freed with it.
class RenderState {
    let function: RenderFunction
    let pointer: UnsafeMutableRawPointer
    /// The delay of the output after the input, in frames at the node's rate.
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
    ///   - kept: the objects to which `memory` points.
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
