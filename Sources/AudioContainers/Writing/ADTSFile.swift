// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotAudioFiles

/// AAC packets, each after a header of seven bytes (ISO/IEC 14496-3, 1.A.3.2).
final class ADTSFile: PacketContainer {
    private let file: AppendingFile
    private let rateIndex: Int
    private let channelCount: Int
    private var frame: [UInt8] = []

    init(_ file: AppendingFile, _ encoder: AACEncoder) {
        self.file = file
        let configuration = encoder.audioSpecificConfig
        rateIndex = Int(configuration[0] & 7) << 1 | Int(configuration[1] >> 7)
        channelCount = encoder.channelCount
    }

    func append(_ packet: UnsafeRawBufferPointer) throws(AudioFileError) {
        let size = packet.count + FrameHeader.byteCount
        guard size < 1 << 13 else {
            let reason = "an AAC packet of \(packet.count) bytes; supported: up to 8184"
            throw .encoderFailed(path: file.path, reason: reason)
        }
        frame.removeAll(keepingCapacity: true)
        frame += [
            0xFF, 0xF1,  // MPEG-4, no check sum
            UInt8(1 << 6 | rateIndex << 2 | channelCount >> 2),  // 1 is LC
            UInt8(channelCount & 3) << 6 | UInt8(size >> 11), UInt8(size >> 3 & 255), UInt8(size & 7) << 5 | 0x1F,
            0xFC,  // the buffer's fullness is not stated, one packet
        ]
        frame += packet
        try file.append(frame)
    }

    func close(frameCount: Int) throws(AudioFileError) { try file.close() }
}
