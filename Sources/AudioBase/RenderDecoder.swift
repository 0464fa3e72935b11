// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A decoder that the render thread calls: C functions over a state, as the compiler proves no call through a protocol.
///
/// The object owns the state and is made and freed on the control thread; ``handle`` does the work.
package final class RenderDecoder: @unchecked Sendable {  // one thread decodes, by contract
    /// The working side; must not outlive the decoder.
    package let handle: Handle
    private let owner: AnyObject?

    /// - Parameters:
    ///   - state: copied to memory of the decoder's own, which the functions get.
    ///   - owner: kept as long as the decoder; it owns what the state points to.
    package init<State: BitwiseCopyable>(_ state: State, _ functions: RenderDecoderFunctions, owner: AnyObject? = nil) {
        let memory = UnsafeMutablePointer<State>.allocate(capacity: 1)
        memory.initialize(to: state)
        handle = Handle(state: memory, functions: functions)
        self.owner = owner
    }

    deinit { handle.state.deallocate() }

    /// A handle to decode with. One thread at a time; every method is render-safe.
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
    /// Decodes a packet, any bytes at all.
    /// - Returns: the frames written; 0 or less if the packet cannot be decoded.
    @inlinable @_noLocks
    package func decode(_ call: DecoderCall) -> Int { frames(functions.decode, call) }

    /// Conceals at most `frameCount` frames of the call from the sound decoded before.
    /// - Returns: the frames written; 0 or less if the codec conceals none.
    @inlinable @_noLocks
    package func conceal(_ call: DecoderCall) -> Int {
        guard let conceal = functions.conceal else { return 0 }
        return frames(conceal, call)
    }

    /// Returns true if a packet carries a copy of the one before it.
    @inlinable @_noLocks
    package func carriesPrevious(_ call: DecoderCall) -> Bool {
        guard let carriesPrevious = functions.carriesPrevious else { return false }
        return withUnsafePointer(to: call) { earshot_decoder_asks(carriesPrevious, state, UnsafeRawPointer($0)) }
    }

    /// Decodes the copy that a packet carries of the one before it. The packet itself is then decoded as any other.
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
