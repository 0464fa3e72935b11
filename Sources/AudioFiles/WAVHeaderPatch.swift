import Glibc

/// Mends the header that libsndfile writes to a WAV that may grow. Its extensible format many programs do not take for what it is:
/// one or two channels get the plain format, with as much room. And the peak's chunk has the time of day: it becomes room.
///
/// Without the patch the file is a good one too, so that it may come after each header.
struct WAVHeaderPatch {
    private var patches: [(offset: Int, bytes: [UInt8])] = []

    /// - Parameter descriptor: of a file with its header.
    init(_ descriptor: CInt, _ plan: SndfilePlan) {
        guard plan.type == .rf64 else { return }
        var header = [UInt8](repeating: 0, count: 1_024)
        let count = max(0, pread(descriptor, &header, header.count, 0))
        let bytes = StreamBuffer(Array(header.prefix(count)))
        var at = 12
        while at + 8 <= bytes.count, !bytes.begins(with: "data", at: at) {
            let length = bytes.littleEndian(at + 4, 4)
            if bytes.begins(with: "fmt ", at: at), length == 40, plan.channelCount <= 2 {
                let tag: [UInt8] = plan.stored == .float32 ? [3, 0] : [1, 0]
                let rest = bytes.copy(at + 10..<at + 24) + (plan.stored == .float32 ? [0, 0] : [])
                patches.append((at, Self.chunk("fmt ", tag + rest) + Self.chunk("JUNK", 40 - 8 - 2 - rest.count)))
            } else if bytes.begins(with: "PEAK", at: at) {
                patches.append((at, Self.chunk("JUNK", length)))
            }
            at += 8 + length
        }
    }

    private static func chunk(_ name: String, _ length: Int) -> [UInt8] {
        chunk(name, [UInt8](repeating: 0, count: length))
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + (0..<4).map { UInt8(content.count >> (8 * $0) & 0xFF) } + content
    }

    func apply(_ descriptor: CInt) {
        for patch in patches {
            _ = patch.bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(patch.offset)) }
        }
    }
}
