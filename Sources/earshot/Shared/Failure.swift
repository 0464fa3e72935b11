// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioCodecs
import EarshotAudioContainers
import EarshotAudioDevices
import EarshotAudioFiles
import EarshotAudioQueues
import EarshotAudioStreams
import EarshotDiagnostics
import EarshotLiveCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import EarshotSimulation
import Foundation

/// A reason to end the program: a line for the user, and an exit status of sysexits(3).
struct Failure: Error {
    let line: String
    let status: Int32

    static let usage: Int32 = 64
    /// The exit status for invalid input (EX_DATAERR).
    static let data: Int32 = 65
    static let noInput: Int32 = 66
    static let noHost: Int32 = 68
    static let unavailable: Int32 = 69
    static let cannotCreate: Int32 = 73
    static let incomplete: Int32 = 74
    /// The exit status for a lost connection or an incomplete transfer (EX_TEMPFAIL).
    static let lost: Int32 = 75
    static let refused: Int32 = 77

    init(_ line: String, status: Int32) {
        self.line = line
        self.status = status
    }

    /// Creates the failure for an error, with an exit status that suits the type of the error.
    init(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as AudioFileError: self.init(error, Self.status(of: error))
        case SoundFileConversion.Failure.file(let error): self.init(error)
        case SoundFileConversion.Failure.output(let error): self.init(error, Self.cannotCreate)
        case let error as SoundFileConversion.Failure: self.init(error, Self.usage)
        case AudioRecorderError.file(let error): self.init(error)
        case AudioPlayerError.file(let error): self.init(error)
        case AudioPlayerError.stream(let error): self.init(error)
        case let error as AudioStreamError: self.init(error, Self.status(of: error))
        case let error as GraphFileError: self.init(error, Self.data)
        case let error as SimulationError: self.init(error, Self.data)
        case let error as MixError: self.init(error, Self.status(of: error))
        case StemError.recording(let error): self.init(error)
        case let error as StemError: self.init(error, Self.data)
        case let error as DuetFolderError: self.init(error, Self.data)
        case let ending as LiveCallEnding: self.init(ending)
        case let ending as RoomEnding: self.init(ending, Self.status(of: ending))
        case let error as ResolutionError: self.init(error, Self.noHost)
        case let error as CallSocketError: self.init(error, error.exitStatus)
        case NearbyError.store(let error): self.init(error)
        case let error as NearbyStoreError: self.init(error, Self.status(of: error))
        default: self.init(error, Self.unavailable)
        }
    }

    /// Creates the failure of a call that the user did not end.
    init(_ ending: LiveCallEnding) {
        switch ending {
        case .room(let ending): self.init(ending as any Error)
        case .session(let error): self.init(error as any Error)
        case .device(let error): self.init(error as any Error)
        case .codec(let error): self.init(error as any Error)
        case .notPrepared: self.init("Cannot open the audio files of the simulated device.", status: Self.cannotCreate)
        case .noCommonFormat(let local, let remote):
            self.init(NegotiationFault.nothingInCommon(offered: local, taken: remote), Self.unavailable)
        case .noSound(let interruption, let seconds):
            self.init("no sound for \(Int(seconds)) s: \(interruption.text)", status: Self.unavailable)
        case .lastParticipantLost(let name):
            self.init("Lost \(name), the last participant. Join again.", status: Self.lost)
        case .left, .duration, .alone: self.init("the call is over", status: Self.unavailable)
        }
    }

    /// Creates a failure with the error's text, advice, and a status.
    init(_ error: any Error, _ status: Int32) { self.init(ErrorText.text(error), status: status) }

    private static func status(of error: AudioFileError) -> Int32 {
        switch error {
        case .missingFolder, .diskFull, .notRead, .tooLong, .unsupportedFormat, .encoderFailed, .closed, .system,
            .tagsRefused:
            cannotCreate
        case .notAudio, .unsupportedSampleRate, .unsupportedChannelCount, .damaged, .tagsTooLarge: data
        case .missing, .notPermitted, .directory, .notRegular, .notSeekable: noInput
        }
    }

    private static func status(of error: MixError) -> Int32 {
        switch error {
        case .noFolder, .noDescription: noInput
        case .unreadable(let error): status(of: error)
        case .badDescription, .laterVersion, .noVoices, .nothingReadable: data
        case .unknownVoice, .empty: usage
        case .output, .ownFile: cannotCreate
        case .cancelled: Interrupt.exitStatus
        }
    }

    private static func status(of error: AudioStreamError) -> Int32 {
        switch error {
        case .badAddress: usage
        case .notAudio, .badPlaylist, .codec: data
        case .refused, .notSeekable: noInput
        case .redirectRefused, .tooManyRedirects, .notTrusted, .unreachable, .system: unavailable
        }
    }

    private static func status(of ending: RoomEnding) -> Int32 {
        switch ending {
        case .refused(let error): status(of: error)
        case .changedKey, .blockedHost, .noPINWanted, .impostor, .removed, .replaced: refused
        case .unreached(.wrongKey, _): refused
        case .unreached, .closed: unavailable
        case .dropped, .lost: lost
        case .becameHost, .left: unavailable
        }
    }

    private static func status(of error: RoomError) -> Int32 {
        switch error {
        case .declined, .unanswered, .replaced, .blocked, .unknownKey, .keyNeeded, .changedKey, .ownKey, .pinNeeded,
            .wrongPIN, .tooManyAttempts:
            refused
        default: unavailable
        }
    }

    private static func status(of error: NearbyStoreError) -> Int32 {
        switch error {
        case .file: cannotCreate
        case .laterVersion, .tooLarge, .identity, .knownPeers: data
        }
    }

    /// Runs `make`, which creates a file. Any error gets the exit status ``cannotCreate``.
    static func creating<Made>(_ make: () throws -> Made) throws -> Made {
        do {
            return try make()
        } catch {
            throw Failure(Failure(error).line, status: cannotCreate)
        }
    }

    /// Runs a command; a failure becomes a line on standard error and the exit status.
    static func reporting(_ work: () throws -> Void) throws {
        do {
            try work()
        } catch let exit as ExitCode {
            throw exit
        } catch {
            let failure = Failure(error)
            Terminal.error(failure.line)
            throw ExitCode(failure.status)
        }
    }
}

enum ExitCodes {
    static var interrupted: ExitCode { ExitCode(Interrupt.exitStatus) }
    /// The exit status if the reader of standard output has gone, as with `| head`: 128 plus the number of SIGPIPE.
    static let closedPipe = ExitCode(141)
    /// The exit status if the user quit before the command did its work.
    static let cancelled = ExitCode(130)
    /// Returns the exit code of a failure whose text was already printed.
    static func failed(_ failure: Failure) -> ExitCode { ExitCode(failure.status) }
}
