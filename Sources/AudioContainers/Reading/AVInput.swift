// SPDX-License-Identifier: Apache-2.0

import CEarshotLibAVFormat
import EarshotAudioFiles

/// libavformat's context for reading our file.
struct AVInput {
    /// The most bytes that the library may allocate at once: enough for an index of eleven million packets.
    private static let maximumAllocation = 256 << 20
    private static let ioByteCount = 1 << 15

    private(set) var context: UnsafeMutablePointer<AVFormatContext>?
    private var io: UnsafeMutablePointer<AVIOContext>?

    /// Opens a file as one format of libavformat's.
    /// - Parameters:
    ///   - source: must outlive this value.
    ///   - format: the demultiplexer's name, such as `mov`.
    init(_ source: FileSource, format: String) throws(AudioFileError) {
        let path = source.file.path
        earshot_av_quiet()  // otherwise libavformat would write to standard error
        av_max_alloc(Self.maximumAllocation)
        guard let buffer = av_malloc(Self.ioByteCount) else { throw .system(path: path, code: 12) }
        io = avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), CInt(Self.ioByteCount), 0,
            Unmanaged.passUnretained(source).toOpaque(), FileSource.readCallback, nil, FileSource.seekCallback)
        context = avformat_alloc_context()
        context?.pointee.pb = io
        context?.pointee.io_open = { _, _, _, _, _ in earshot_av_refused() }
        context?.pointee.max_streams = 64
        var options: OpaquePointer?
        if format == "mov" {
            av_dict_set(&options, "ignore_editlist", "1", 0)
            av_dict_set(&options, "ignore_chapters", "1", 0)
        }
        // Without a format libavformat would try all of them.
        guard let demultiplexer = av_find_input_format(format) else {
            av_dict_free(&options)
            close()
            throw .notAudio(path: path, reason: "libavformat lacks \(format)")
        }
        let code = avformat_open_input(&context, nil, demultiplexer, &options)
        av_dict_free(&options)
        if let error = source.error {
            close()
            throw error
        }
        guard code >= 0 else {
            close()
            throw .notAudio(path: path, reason: "libavformat finds no sound in it, code \(code)")
        }
    }

    /// Frees everything. A second call does nothing.
    mutating func close() {
        avformat_close_input(&context)
        if let buffer = io?.pointee.buffer { av_free(buffer) }
        avio_context_free(&io)
    }
}

/// The file with the read and seek functions that libavformat needs.
final class FileSource {
    let file: ReadableFile
    /// The system's error, which the library would replace by its own.
    private(set) var error: AudioFileError?
    private var offset = 0

    init(_ file: ReadableFile) { self.file = file }

    static let readCallback: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, CInt) -> CInt = {
        guard let object = $0, let bytes = $1 else { return earshot_av_eof() }
        let source = Unmanaged<FileSource>.fromOpaque(object).takeUnretainedValue()
        return source.read(UnsafeMutableRawBufferPointer(start: bytes, count: Int($2)))
    }

    static let seekCallback: @convention(c) (UnsafeMutableRawPointer?, Int64, CInt) -> Int64 = {
        guard let object = $0 else { return -1 }
        return Unmanaged<FileSource>.fromOpaque(object).takeUnretainedValue().seek($1, $2)
    }

    /// Returns to the beginning of the file.
    func rewind() { (offset, error) = (0, nil) }

    private func read(_ bytes: UnsafeMutableRawBufferPointer) -> CInt {
        do {
            let got = try file.read(at: offset, into: bytes)
            offset += got
            return got > 0 ? CInt(got) : earshot_av_eof()
        } catch {
            self.error = error
            return earshot_av_refused()
        }
    }

    private func seek(_ to: Int64, _ whence: CInt) -> Int64 {
        if whence & AVSEEK_SIZE != 0 { return Int64(file.byteCount) }
        let base: Int64 =
            switch whence & 0xFFFF {
            case 0: 0
            case 1: Int64(offset)
            case 2: Int64(file.byteCount)
            default: -1
            }
        let (target, overflow) = base.addingReportingOverflow(to)
        guard base >= 0, !overflow, target >= 0 else { return -1 }
        offset = Int(target)
        return target
    }
}
