// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotAudioEngine

/// An operation that a queue refused.
public enum AudioQueueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The buffer has nothing in it.
    case emptyBuffer
    /// The buffer says that it holds more than it has room for, or a packet lies outside what is filled.
    case badBuffer(detail: String)
    /// The queue has the buffer already, and has not handed it back.
    case enqueuedAlready
    /// Another queue made the buffer.
    case foreignBuffer
    /// The queue has as many buffers as it can have.
    case tooManyBuffers(maximum: Int)
    /// A buffer of more frames than one can have.
    case bufferTooLarge(maximum: Int)
    /// The queue is coming to its end, ``AudioOutputQueue/stop(immediately:)``, and takes nothing any more.
    case stopping
    /// A rate that the queue was not made for.
    case noRate(detail: String)
    /// The queue's format does not fit what it is to do.
    case badFormat(detail: String)
    /// The codec could not be made, or failed.
    case codec(CodecError)
    /// The engine could not take the queue.
    case engine(AudioEngineError)
    /// The system has no thread left; `code` is an errno.
    case noThread(code: Int)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .emptyBuffer: "the buffer is empty"
        case .badBuffer(let detail): "the buffer cannot be played: \(detail)"
        case .enqueuedAlready: "the queue still has this buffer"
        case .foreignBuffer: "the buffer belongs to another queue"
        case .tooManyBuffers(let maximum): "a queue has \(maximum) buffers at most"
        case .bufferTooLarge(let maximum): "a buffer has \(maximum) frames at most"
        case .stopping: "the queue is stopping and takes no more buffers"
        case .noRate(let detail): "the rate cannot be changed: \(detail)"
        case .badFormat(let detail): "the queue cannot have this format: \(detail)"
        case .codec(let error): error.description
        case .engine(let error): error.description
        case .noThread(let code): "the system has no thread for the queue (error \(code))"
        }
    }
}
