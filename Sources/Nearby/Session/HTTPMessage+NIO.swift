// SPDX-License-Identifier: Apache-2.0

import EarshotRooms
import NIOHTTP1

extension HTTPMessage {
    /// Creates a message of NIO's headers and a body. The first of repeated fields is used.
    init(_ headers: HTTPHeaders, body: [UInt8]) {
        var fields: [String: String] = [:]
        for (name, value) in headers where fields[name.lowercased()] == nil { fields[name.lowercased()] = value }
        self.init(fields: fields, body: body)
    }
}

extension HTTPHeaders {
    init(_ parts: HTTPMessage) { self.init(parts.fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) }
}

extension RoomReply {
    /// The reply as a response of the HTTPS server.
    var response: HTTPResponse {
        let parts = parts
        return HTTPResponse(
            status: HTTPResponseStatus(statusCode: status), headers: HTTPHeaders(parts), content: .bytes(parts.body))
    }
}
