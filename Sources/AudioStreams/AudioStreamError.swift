// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotAudioFiles

/// The reason that a stream cannot be played, or a seek cannot be done. The addresses in it contain no user name or password.
public enum AudioStreamError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The address is not an `http://` or `https://` address of at most 4,096 bytes.
    case badAddress(String)
    /// The server answered with this HTTP status.
    case refused(status: Int, address: String)
    /// A redirect or a playlist leads from https to http, which the options do not allow, or a redirect leads to another
    /// protocol.
    case redirectRefused(address: String)
    /// The server redirects more than five times.
    case tooManyRedirects(address: String)
    /// The server's certificate is invalid or for another host name, or the file of trusted certificates cannot be read.
    case notTrusted(address: String, reason: String)
    /// The connection failed or broke as often as the options allow, the response's head is too long, or a pipe cannot be read;
    /// `reason` is the last failure.
    case unreachable(address: String, reason: String)
    /// The received bytes are not a sound stream.
    case notAudio(address: String, reason: StreamParserError)
    /// The playlist is too long or too deeply nested, or it names nothing that can be played.
    case badPlaylist(address: String, reason: String)
    /// There is no decoder for the received format.
    case codec(CodecError)
    /// Seeking is not possible in this stream; `reason` says why.
    case notSeekable(address: String, reason: String)
    /// The system is out of threads or memory; `code` is the `errno`.
    case system(code: Int32)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .badAddress(let address): "\(address) is not a stream address"
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
