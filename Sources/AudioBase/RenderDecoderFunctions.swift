// SPDX-License-Identifier: Apache-2.0

/// The functions of a ``RenderDecoder``. Each closure is one line: it binds the memory to its state and calls the function of the
/// same name, which is `@_noLocks`.
@frozen
package struct RenderDecoderFunctions: Sendable {
    /// Receives the state and a ``DecoderCall``; returns frames.
    package typealias Frames = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Int
    /// Receives the state and a ``DecoderCall``.
    package typealias Query = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Bool
    /// Receives the state.
    package typealias Reset = @convention(c) (UnsafeMutableRawPointer) -> Void
    @usableFromInline let decode: Frames
    @usableFromInline let conceal: Frames?
    @usableFromInline let carriesPrevious: Query?
    @usableFromInline let recoverPrevious: Frames?
    @usableFromInline let reset: Reset

    /// Creates functions that are safe on the render thread; nil for what the codec does not support.
    package init(
        decode: @escaping Frames, conceal: Frames? = nil, carriesPrevious: Query? = nil, recoverPrevious: Frames? = nil,
        reset: @escaping Reset
    ) {
        self.decode = decode
        self.conceal = conceal
        self.carriesPrevious = carriesPrevious
        self.recoverPrevious = recoverPrevious
        self.reset = reset
    }
}
