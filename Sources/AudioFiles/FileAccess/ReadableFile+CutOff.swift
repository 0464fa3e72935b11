// SPDX-License-Identifier: Apache-2.0

extension ReadableFile {
    /// True if the file's end is missing: a WAV or AIFF file is shorter than its header declares, or an Ogg file lacks its
    /// stream's last page. False for other files.
    package var isCutOff: Bool {
        let head = StreamBuffer(bytes(at: 0, count: 12))
        guard head.count == 12 else { return false }
        if head.begins(with: "OggS") { return !OggTail.hasLastPage(self) }
        if head.begins(with: "RF64") || head.begins(with: "BW64") {
            // The sizes that do not fit into 32 bits are in the first chunk (EBU Tech 3306).
            let sizes = StreamBuffer(bytes(at: 12, count: 16))
            return sizes.count == 16 && sizes.begins(with: "ds64") && sizes.littleEndian(8, 8) > byteCount - 7
        }
        let declared: Int
        if head.begins(with: "RIFF") {
            declared = head.littleEndian(4, 4)
        } else if head.begins(with: "FORM") {
            declared = head.bigEndian(4, 4)
        } else {
            return false
        }
        // Programs that write to a pipe declare about 2 or 4 GiB; some omit the last byte, which pads to an even length.
        return declared < 0x7FF0_0000 && declared + 8 > byteCount + 1
    }
}
