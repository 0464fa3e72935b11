// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation

/// The offer of a file: the body of `POST /files/{hash}`.
struct FileOffer: Codable, Hashable, Sendable {
    /// The maximum bytes of the body.
    static let maximumSize = 4_096

    var version = 1
    /// The sender's name of the file.
    var name: String
    /// The size of the file in bytes; below 2⁵³.
    var size: Int64

    init(name: String, size: Int64) {
        self.name = name
        self.size = size
    }

    /// Reads an offer of version 1.
    init(parsing bytes: [UInt8]) throws(TransferError) {
        guard bytes.count <= Self.maximumSize, let offer = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else {
            throw .malformed("the offer is not JSON with version, name and size")
        }
        guard offer.version == 1 else {
            throw .refused(code: "version", message: "version 1 of transfers is spoken here")
        }
        guard (0..<Int64(TransferNumber.limit)).contains(offer.size) else { throw .malformed("no file has this size") }
        self = offer
    }

    var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map(Array.init) ?? [] }
}

/// The answer to an accepted offer.
struct FileState: Codable, Hashable, Sendable {
    /// The bytes that the receiver has; the sender continues after them.
    var have: Int64
    /// True if the file is complete and verified; nil if not.
    var done: Bool?

    init(have: Int64, done: Bool = false) {
        self.have = have
        self.done = done ? true : nil
    }

    /// Reads the answer for a file of this size.
    init(parsing bytes: [UInt8], size: Int64) throws(TransferError) {
        guard let state = try? JSONDecoder().decode(Self.self, from: Data(bytes)), (0...size).contains(state.have)
        else {
            throw .malformed("their answer to the offer cannot be read")
        }
        self = state
    }

    var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map(Array.init) ?? [] }
}
