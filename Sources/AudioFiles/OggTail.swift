/// Where the last whole page of an Ogg file ends (RFC 3533, section 6): behind it may lie what a killed program began, or
/// another program's tag, neither of which libsndfile gets over.
enum OggTail {
    /// Bytes up to there; nil where no page is found.
    static func end(_ file: ReadableFile) -> Int? {
        let longest = 27 + 255 + 255 * 255
        let start = max(0, file.byteCount - 2 * longest)
        let bytes = file.bytes(at: start, count: file.byteCount - start)
        var at = bytes.count - 27
        while at >= 0 {
            if bytes[at] == 0x4F, bytes[at...].starts(with: "OggS\0".utf8) {
                let segments = Int(bytes[at + 26])
                let head = at + 27 + segments
                if head <= bytes.count {
                    let end = bytes[at + 27..<head].reduce(head) { $0 + Int($1) }
                    if end <= bytes.count { return start + end }
                }
            }
            at -= 1
        }
        return nil
    }
}
