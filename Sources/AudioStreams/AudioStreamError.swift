// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotAudioFiles

/// The reason that a stream cannot be played. Addresses in it have no user name and password.
public enum AudioStreamError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The address is missing or does not begin with `http://` or `https://`.
    case badAddress(String)
    /// The server answered with this HTTP status.
    case refused(status: Int, address: String)
    /// The server redirects from https to http, or to another protocol, which is not allowed.
    case redirectRefused(address: String)
    /// The server redirects too often.
    case tooManyRedirects(address: String)
    /// The server's certificate is invalid or for another name.
    case notTrusted(address: String, reason: String)
    /// The connection failed or broke as often as the options allow; `reason` is the last failure.
    case unreachable(address: String, reason: String)
    /// The response is not a sound stream.
    case notAudio(address: String, reason: StreamParserError)
    /// The playlist names nothing that can be played.
    case badPlaylist(address: String, reason: String)
    /// There is no decoder for the received format.
    case codec(CodecError)
    /// The stream is not seekable.
    case notSeekable(address: String, reason: String)
    /// The system is out of threads or memory.
    case system(code: Int32)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .badAddress(let address): "\(address): not a stream address"
        case .refused(let status, let address): "\(address): the server answers \(status)"
        case .redirectRefused(let address):
            "\(address): redirects from https to an unencrypted address or another protocol"
        case .tooManyRedirects(let address): "\(address): too many redirects"
        case .notTrusted(let address, let reason): "\(address): the server's certificate is not trusted (\(reason))"
        case .unreachable(let address, let reason): "\(address): \(reason)"
        case .notAudio(let address, let reason): "\(address): \(reason)"
        case .badPlaylist(let address, let reason): "\(address): \(reason)"
        case .codec(let error): error.description
        case .notSeekable(let address, let reason): "\(address): not seekable (\(reason))"
        case .system(let code): "the system has no resources for a stream (error \(code))"
        }
    }
}
