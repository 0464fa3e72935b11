// SPDX-License-Identifier: Apache-2.0

/// The state of a node between blocks: memory of the render thread, and the function that renders with it.
///
/// Created and freed on the control thread. A program retains the states of its nodes.
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

/// A render state whose memory has the type `Memory`.
final class RenderMemory<Memory: ~Copyable>: RenderState {
    let memory: UnsafeMutablePointer<Memory>
    private let retainedObjects: [AnyObject]
    private let statedLatency: Double
    override var latency: Double { statedLatency }

    /// - Parameters:
    ///   - retainedObjects: the objects to which `memory` points.
    init(
        _ memory: consuming Memory, latency: Double = 0, keeping retainedObjects: [AnyObject] = [],
        function: @escaping RenderFunction
    ) {
        let pointer = UnsafeMutablePointer<Memory>.allocate(capacity: 1)
        pointer.initialize(to: memory)
        self.memory = pointer
        self.retainedObjects = retainedObjects
        statedLatency = latency
        super.init(function, UnsafeMutableRawPointer(pointer))
    }

    deinit {
        memory.deinitialize(count: 1)
        memory.deallocate()
    }
}
