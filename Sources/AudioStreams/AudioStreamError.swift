// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotAudioFiles

/// The reason that a stream cannot be played. Addresses are without name and password.
public enum AudioStreamError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Neither `http://` nor `https://`, or no address at all.
    case badAddress(String)
    /// The server answered with this status.
    case refused(status: Int, address: String)
    /// The server sends to somewhere that is not gone to: from https to http, or to another protocol.
    case redirectRefused(address: String)
    /// It sends on and on.
    case tooManyRedirects(address: String)
    /// The server's certificate is not good, or its name is another.
    case notTrusted(address: String, reason: String)
    /// No connection, or it broke, as often as was allowed; `reason` is the last.
    case unreachable(address: String, reason: String)
    /// The answer is no stream of sound.
    case notAudio(address: String, reason: StreamParserError)
    /// A playlist that names nothing that can be played.
    case badPlaylist(address: String, reason: String)
    /// No decoder for the received format.
    case codec(CodecError)
    /// It can only be heard as it comes.
    case notSeekable(address: String, reason: String)
    /// The system has no thread or no memory left.
    case system(code: Int32)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .badAddress(let address): "\(address): not an address of a stream"
        case .refused(let status, let address): "\(address): the server answers \(status)"
        case .redirectRefused(let address):
            "\(address): leads from https to an address without encryption, or to another protocol"
        case .tooManyRedirects(let address): "\(address): leads on and on"
        case .notTrusted(let address, let reason): "\(address): the server cannot be trusted (\(reason))"
        case .unreachable(let address, let reason): "\(address): \(reason)"
        case .notAudio(let address, let reason): "\(address): \(reason)"
        case .badPlaylist(let address, let reason): "\(address): \(reason)"
        case .codec(let error): error.description
        case .notSeekable(let address, let reason): "\(address): not seekable (\(reason))"
        case .system(let code): "the system has nothing left for a stream (error \(code))"
        }
    }
}
