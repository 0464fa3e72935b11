// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A decoder for the render thread: C functions with a state, because the compiler cannot check calls through a protocol.
///
/// The object owns the state, and is created and freed on the control thread; ``handle`` does the work.
package final class RenderDecoder: @unchecked Sendable {  // one thread decodes, by contract
    /// The handle for decoding; must not outlive the decoder.
    package let handle: Handle
    private let owner: AnyObject?

    /// - Parameters:
    ///   - state: copied to the decoder's own memory, which is passed to the functions.
    ///   - owner: retained as long as the decoder; it owns the memory to which the state points.
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
    /// Decodes a packet of any bytes.
    /// - Returns: the frames written; 0 or less if the packet cannot be decoded.
    @inlinable @_noLocks
    package func decode(_ call: DecoderCall) -> Int { frames(functions.decode, call) }

    /// Conceals at most `frameCount` frames of the call from the sound before.
    /// - Returns: the frames written; 0 or less if the codec does not conceal.
    @inlinable @_noLocks
    package func conceal(_ call: DecoderCall) -> Int {
        guard let conceal = functions.conceal else { return 0 }
        return frames(conceal, call)
    }

    /// Returns true if a packet contains a copy of the previous one.
    @inlinable @_noLocks
    package func carriesPrevious(_ call: DecoderCall) -> Bool {
        guard let carriesPrevious = functions.carriesPrevious else { return false }
        return withUnsafePointer(to: call) { earshot_decoder_asks(carriesPrevious, state, UnsafeRawPointer($0)) }
    }

    /// Decodes a packet's copy of the previous one. The packet itself is decoded afterwards as usual.
    /// - Returns: `frameCount` of the call; 0 or less if there is none.
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
