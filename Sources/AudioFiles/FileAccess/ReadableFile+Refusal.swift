// SPDX-License-Identifier: Apache-2.0

extension ReadableFile {
    /// Returns the reason that the file is not readable sound: the reason that its content or the stream parser gives, with a
    /// byte offset if there is one; otherwise `libraryReason`.
    func refusal(_ libraryReason: String) -> String {
        if byteCount == 0 { return "it is empty" }
        let prefix = bytes(at: 0, count: StreamContent.prefixLength)
        switch StreamContent(prefix: prefix, isWhole: byteCount <= StreamContent.prefixLength) {
        case .otherSound: return libraryReason
        case .other(let found): return "it contains \(found)"
        default: break
        }
        var parser = AudioStreamParser()
        var events: [AudioStreamEvent] = []
        do throws(StreamParserError) {
            for offset in stride(from: 0, to: min(byteCount, 1 << 21), by: 1 << 16) {
                try parser.parse(bytes(at: offset, count: 1 << 16), into: &events)
                events.removeAll()
            }
            if byteCount <= 1 << 21 { try parser.finish(into: &events) }
            return libraryReason
        } catch {
            switch error {
            case .notAudio(let found, let offset): return "\(found) at byte \(offset)"
            case .unsupported(let detail, let offset), .damaged(let detail, let offset):
                return "\(detail) at byte \(offset)"
            case .noPackets: return libraryReason
            }
        }
    }
}
