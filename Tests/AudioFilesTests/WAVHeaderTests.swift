// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@Suite struct WAVHeaderTests {
    @Test(
        "A WAV file's header is understood by ffprobe, sox and Python",
        arguments: [1, 2, 3], AudioFileWriter.SampleFormat.allCases)
    func plain(channels: Int, sampleFormat: AudioFileWriter.SampleFormat) throws {
        let folder = try Folder()
        let path = folder.path("a.wav")
        let sound = tone(frames: 1_001, channels: channels, rate: 44_100)
        let format = AudioFormat(sampleRate: 44_100, channelCount: channels)
        let writer = try AudioFileWriter(path: path, format: format, sampleFormat: sampleFormat)
        try check(path, channels, sampleFormat, 0)
        try writer.write(sound.channels, frameCount: 1_001)
        try check(path, channels, sampleFormat, 1_001)
        try writer.close()
        try check(path, channels, sampleFormat, 1_001)
        let (name, bits) =
            switch sampleFormat {
            case .int16: ("pcm_s16le", 16)
            case .int24: ("pcm_s24le", 24)
            case .float32: ("pcm_f32le", 32)
            }
        let probe = try run(
            "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,channels,sample_rate,duration_ts", "-of",
            "csv=p=0", path)
        #expect(probe.status == 0 && probe.output == "\(name),44100,\(channels),1001\n", "\(probe.output)")
        let sox = try run("sox", "--i", path)
        #expect(sox.status == 0 && sox.output.contains("1001 samples"), "\(sox.output)")
        // (For libsndfile's format for more channels sox reports a missing part.)
        #expect(channels > 2 || !sox.output.contains("WARN"), "\(sox.output)")
        if sampleFormat != .float32, channels < 3 {
            let script = "import wave,sys; w=wave.open(sys.argv[1]); print(w.getparams()[:4])"
            let python = try run("python3", "-c", script, path)
            #expect(python.output == "(\(channels), \(bits / 8), 44100, 1001)\n", "\(python.output)")
        }
    }

    @Test func `scipy reads our WAV headers without a warning`() throws {
        let python = ".build/venv/bin/python3"
        guard FileManager.default.isExecutableFile(atPath: python) else {
            try Test.cancel("scripts/test setup brings scipy")
        }
        let folder = try Folder()
        let sound = tone(frames: 1_001, channels: 2, rate: 44_100)
        for (index, sampleFormat) in AudioFileWriter.SampleFormat.allCases.enumerated() {
            for channels in [1, 2] {
                let format = AudioFormat(sampleRate: 44_100, channelCount: channels)
                let path = folder.path("\(index)-\(channels).wav")
                let writer = try AudioFileWriter(path: path, format: format, sampleFormat: sampleFormat)
                try writer.write(sound.channels, frameCount: 1_001)
                try writer.close()
            }
        }
        let script =
            "import warnings,sys,glob; warnings.simplefilter('error'); from scipy.io import wavfile; "
            + "print(*[(r, d.shape[0]) for r, d in map(wavfile.read, glob.glob(sys.argv[1] + '/*.wav'))])"
        let scipy = try run(python, "-c", script, folder.url.path)
        #expect(scipy.output == Array(repeating: "(44100, 1001)", count: 6).joined(separator: " ") + "\n")
    }

    private func check(
        _ path: String, _ channels: Int, _ sampleFormat: AudioFileWriter.SampleFormat, _ frames: Int
    ) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        func little(_ at: Int, _ count: Int) -> Int { (0..<count).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) } }
        // Chunk by chunk, like a reader.
        var at = 12
        var format: (size: Int, tag: Int)?
        while at + 8 <= bytes.count, !bytes[at...].starts(with: Array("data".utf8)) {
            let size = little(at + 4, 4)
            if bytes[at...].starts(with: Array("fmt ".utf8)) { format = (size, little(at + 8, 2)) }
            at += 8 + size + size % 2
        }
        let isFloat = sampleFormat == .float32
        #expect(format?.tag == (channels > 2 ? 0xFFFE : isFloat ? 3 : 1))
        #expect(format?.size == (channels > 2 ? 40 : isFloat ? 18 : 16))
        #expect(Data(bytes.prefix(256)).range(of: Data("PEAK".utf8)) == nil)
        #expect(try AudioFileReader(path: path).frameCount == frames)
    }
}
