// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A decoder for the render thread: C functions with a state, because the compiler cannot check that calls through a protocol
/// take no locks.
///
/// This object owns the state; the control thread creates and frees it. The render thread decodes with ``handle``.
package final class RenderDecoder: @unchecked Sendable {  // one thread decodes, by contract
    /// The handle for decoding; must not outlive the decoder.
    package let handle: Handle
    private let owner: AnyObject?

    /// - Parameters:
    ///   - state: the initial state. It is copied to the decoder's own memory, which the functions receive.
    ///   - owner: an object that owns the memory to which the state points; retained as long as the decoder.
    package init<State: BitwiseCopyable>(_ state: State, _ functions: RenderDecoderFunctions, owner: AnyObject? = nil) {
        let memory = UnsafeMutablePointer<State>.allocate(capacity: 1)
        memory.initialize(to: state)
        handle = Handle(state: memory, functions: functions)
        self.owner = owner
    }

    deinit { handle.state.deallocate() }

    /// A handle for decoding. For one thread at a time; every method is safe on the render thread.
    @frozen
    package struct Handle: @unchecked Sendable {  // one thread decodes, by contract
        @usableFromInline let state: UnsafeMutableRawPointer
        @usableFromInline let functions: RenderDecoderFunctions

        init(state: UnsafeMutableRawPointer, functions: RenderDecoderFunctions) {
            self.state = state
            self.functions = functions
        }
    }
}

extension RenderDecoder.Handle {
    /// Decodes a packet, which may contain any bytes.
    /// - Returns: the frames written; 0 or less if the packet cannot be decoded.
    @inlinable @_noLocks
    package func decode(_ call: DecoderCall) -> Int { frames(functions.decode, call) }

    /// Conceals at most the call's `frameCount` lost frames by continuing the sound before them.
    /// - Returns: the frames written; 0 or less if the codec does not conceal.
    @inlinable @_noLocks
    package func conceal(_ call: DecoderCall) -> Int {
        guard let conceal = functions.conceal else { return 0 }
        return frames(conceal, call)
    }

    /// Sets the codec's state to that before the concealment since the last packet, which is not played.
    @inlinable @_noLocks
    package func undoConcealment() {
        if let undo = functions.undoConcealment { earshot_decoder_reset(undo, state) }
    }

    /// Returns true if a packet also contains a copy of the previous packet; false if the codec has no such copies.
    @inlinable @_noLocks
    package func carriesPrevious(_ call: DecoderCall) -> Bool {
        guard let carriesPrevious = functions.carriesPrevious else { return false }
        return withUnsafePointer(to: call) { earshot_decoder_asks(carriesPrevious, state, UnsafeRawPointer($0)) }
    }

    /// Decodes the copy of the previous packet that a packet contains. The packet itself is decoded afterwards as usual.
    /// - Returns: the call's `frameCount`; 0 or less if the packet contains no copy.
    @inlinable @_noLocks
    package func recoverPrevious(_ call: DecoderCall) -> Int {
        guard let recoverPrevious = functions.recoverPrevious else { return 0 }
        return frames(recoverPrevious, call)
    }

    /// Resets the codec's state, as for a new stream.
    @inlinable @_noLocks
    package func reset() { earshot_decoder_reset(functions.reset, state) }

    @inlinable @_noLocks
    func frames(_ function: RenderDecoderFunctions.Frames, _ call: DecoderCall) -> Int {
        withUnsafePointer(to: call) { earshot_decoder_frames(function, state, UnsafeRawPointer($0)) }
    }
}
