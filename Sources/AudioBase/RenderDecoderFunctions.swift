// SPDX-License-Identifier: Apache-2.0

/// The functions of a ``RenderDecoder``. Each is a closure that binds the memory to the decoder's state type and calls the
/// state's `@_noLocks` function of the same name.
@frozen
package struct RenderDecoderFunctions: Sendable {
    /// Receives the state and a ``DecoderCall``; returns a number of frames, 0 or less for a failure.
    package typealias Frames = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Int
    /// Receives the state and a ``DecoderCall``.
    package typealias Query = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Bool
    /// Receives the state and sets it back.
    package typealias Reset = @convention(c) (UnsafeMutableRawPointer) -> Void
    @usableFromInline let decode: Frames
    @usableFromInline let conceal: Frames?
    @usableFromInline let undoConcealment: Reset?
    @usableFromInline let carriesPrevious: Query?
    @usableFromInline let recoverPrevious: Frames?
    @usableFromInline let reset: Reset

    /// Creates functions that are safe on the render thread; nil for what the codec does not support.
    package init(
        decode: @escaping Frames, conceal: Frames? = nil, undoConcealment: Reset? = nil, carriesPrevious: Query? = nil,
        recoverPrevious: Frames? = nil, reset: @escaping Reset
    ) {
        self.decode = decode
        self.conceal = conceal
        self.undoConcealment = undoConcealment
        self.carriesPrevious = carriesPrevious
        self.recoverPrevious = recoverPrevious
        self.reset = reset
    }
}
