// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles

extension AudioFileError: AdvisedError {
    var advice: String? {
        switch self {
        case .missing(let path) where path.contains("://"): "Download it first: curl -O ADDRESS"
        case .missing: "Check the name."
        case .missingFolder: "Create it first."
        case .notPermitted: "Check the permissions of the file and its folder: ls -l"
        case .directory: "Name a file."
        case .notRegular: "Name a regular file."
        case .notAudio(_, let reason) where reason.contains("text"): nil
        case .notAudio(_, "it is empty"): "Check that it was copied or recorded completely."
        case .notAudio: "If it is audio, convert it with ffmpeg to WAV or FLAC."
        case .unsupportedSampleRate: "Convert it with: sox FILE -r 48000 OUT.wav"
        case .unsupportedChannelCount: "Convert it with: sox FILE -c 2 OUT.wav"
        case .damaged: "Get a fresh copy."
        case .notSeekable: "Convert it to WAV or FLAC first."
        case .diskFull: "Free some space."
        case .notRead: nil
        case .tooLong: "Start a new file, or use RF64."
        case .unsupportedFormat: "Choose another format, or a file that ends in .wav."
        case .encoderFailed: nil
        case .tagsRefused(let path, let detail):
            detail == "its layout is fixed"
                ? "Make a new file with: ffmpeg -i \(path) -c copy OUT.m4a"
                : "WAV, AIFF, FLAC, Ogg, MP3 and M4A keep text and artwork."
        case .tagsTooLarge: "Remove large pictures from them."
        case .closed: "Open a new file."
        case .system: "Check the disk and try again."
        }
    }
}

extension SoundFileConversion.Failure: AdvisedError {
    var advice: String? {
        switch self {
        case .file(let error), .output(let error): error.advice
        case .cancelled: nil
        case .sameFile: "Name another output."
        case .unknownKind:
            "Name a file that ends in .wav, .flac, .mp3, .m4a, .aac, .opus, .ogg, .caf or .aiff."
        }
    }
}

extension StreamParserError: AdvisedError {
    var advice: String? {
        switch self {
        case .notAudio: "Check the address, or open it in a browser to see what it is."
        case .unsupported: "Choose MP3, AAC, Ogg Opus, Ogg Vorbis or WAV."
        case .damaged: "Get a fresh copy."
        case .noPackets: "Choose MP3, AAC, Ogg or WAV."
        }
    }
}

extension MP3Error: AdvisedError {
    var advice: String? {
        switch self {
        case .unsupportedFormat, .finished: nil
        case .libraryFailure: "Report this error with the version of LAME."
        }
    }
}
