// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import NIOHTTP1

import struct EarshotMediaTransport.SocketAddress

/// A received request, for the server's handler.
struct HTTPRequest: Sendable {
    let method: HTTPMethod
    let target: HTTPTarget
    let headers: HTTPHeaders
    let remoteAddress: SocketAddress
    /// The client's public key, verified by its certificate, as SPKI in DER; nil for clients without a certificate, such as
    /// browsers.
    let clientKey: [UInt8]?
    let body: HTTPBody
}

/// A handler's answer.
struct HTTPResponse: Sendable {
    var status: HTTPResponseStatus = .ok
    var headers: HTTPHeaders = [:]
    var content: HTTPContent = .none

    /// Returns a response with a stream of events.
    static func events(_ produce: @escaping @Sendable (HTTPContentWriter) async throws -> Void) -> HTTPResponse {
        HTTPResponse(
            headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"], content: .stream(produce))
    }
}

/// An error that a handler throws; the server answers with it.
struct HTTPProblem: Error, Hashable {
    let status: HTTPResponseStatus
    /// The code for programs, in lower-case letters and hyphens.
    let code: String
    /// The message for people.
    let message: String

    /// The error as JSON, `{"error": …, "message": …}`.
    var response: HTTPResponse {
        HTTPResponse(
            status: status, headers: ["Content-Type": "application/json"],
            content: .text("{\"error\": \(Self.quote(code)), \"message\": \(Self.quote(message))}\n"))
    }

    /// Returns a JSON string (RFC 8259, section 7).
    private static func quote(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
