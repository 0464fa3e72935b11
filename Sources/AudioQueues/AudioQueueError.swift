// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotAudioEngine

/// An error of a queue.
public enum AudioQueueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The buffer is empty.
    case emptyBuffer
    /// The buffer claims more than its capacity, or a packet lies outside its valid bytes.
    case badBuffer(detail: String)
    /// The buffer is already enqueued.
    case enqueuedAlready
    /// Another queue allocated the buffer.
    case foreignBuffer
    /// The queue has the maximum number of buffers.
    case tooManyBuffers(maximum: Int)
    /// The buffer would exceed the maximum number of frames.
    case bufferTooLarge(maximum: Int)
    /// The queue is stopping after its last buffer, ``AudioOutputQueue/stop(immediately:)``, and accepts no buffer until it has
    /// stopped.
    case stopping
    /// The queue cannot play at this speed, or was created without `isVarispeed`.
    case noRate(detail: String)
    /// The queue's format does not suit the operation.
    case badFormat(detail: String)
    /// The codec could not be created, or failed.
    case codec(CodecError)
    /// The engine refused the queue.
    case engine(AudioEngineError)
    /// The system could not create the queue's thread; `code` is an errno value.
    case noThread(code: Int)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .emptyBuffer: "the buffer is empty"
        case .badBuffer(let detail): "the buffer cannot be played: \(detail)"
        case .enqueuedAlready: "the buffer is still in the queue"
        case .foreignBuffer: "the buffer belongs to another queue"
        case .tooManyBuffers(let maximum): "a queue holds at most \(maximum) buffers"
        case .bufferTooLarge(let maximum): "a buffer holds at most \(maximum) frames"
        case .stopping: "the queue is stopping and accepts no more buffers"
        case .noRate(let detail): "the rate cannot be changed: \(detail)"
        case .badFormat(let detail): "the queue does not support this format: \(detail)"
        case .codec(let error): error.description
        case .engine(let error): error.description
        case .noThread(let code): "the system cannot create a thread for the queue (error \(code))"
        }
    }
}
