// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotLiveCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

/// A guest's call with a sound card, shared by `join` and `forecast`.
struct GuestCall {
    let card: SoundCard
    let presenter: RoomPresenter
    /// The room's name; for a room named by address, host or join code, that address or host.
    let roomName: String
    /// The options of the call, which is a duet if the room's announcement has a song.
    let options: CallOptions

    /// Finds the room, opens the sound card, which may begin with a sound check, and joins the room. After an error, closes
    /// everything that was opened.
    /// - Parameters:
    ///   - chosen: the room if the user has chosen it already.
    ///   - address: the local address to listen on; nil for all.
    ///   - port: the port of signalling and sound; nil for the default port, or for another one if that is in use.
    ///   - isSilent: true to send nothing, to print nothing about sound, to admit known guests only, and to let nobody record.
    init(
        _ entrance: JoinOptions, to room: String?, chosen: RoomSearch.Found? = nil, as own: RoomOptions, port: UInt16?,
        address: IPAddress? = nil,
        _ options: CallOptions, keys: KeyboardInput?, isSilent: Bool = false
    ) throws {
        let (found, pin) = try entrance.locate(
            room, own, keys, chosen: chosen, command: options.isDuet ? "duet join" : "join")
        var options = options
        if let song = found.song, !options.isDuet, !isSilent, (try? DuetOptions.check(options)) != nil {
            options.preferDuet()
            Terminal.say(DuetSentences.joins(song, room: found.name))
        }
        self.options = options
        card = try options.openCard(isSilent ? nil : keys, storesAnswer: !own.ephemeral)
        let call: LiveCall
        do {
            let media = try options.makeCall(card)
            var session = NearbySession.Configuration(name: own.ownName, store: own.store)
            session.port = port ?? JoinCode.usualPort
            session.takesAnyPort = port == nil
            session.address = address
            session.isMuted = isSilent
            session.media = media
            let canAsk = keys != nil && !isSilent
            var configuration = options.configuration(canAsk: canAsk)
            configuration.admission = canAsk ? .ask : .known
            configuration.isMuted = isSilent
            // A singer may listen to the mix after the others have left.
            configuration.staysAlone = options.isDuet && canAsk
            if isSilent {
                (configuration.voiceProcessing, configuration.monitor) = (.off, .off)
                configuration.singsDuets = false
                configuration.recordingConsent = .no
            }
            call = try LiveCall(configuration, room: try NearbySession.opened(session), sound: (media, card))
        } catch {
            card.close()
            throw error
        }
        presenter = RoomPresenter(
            call, answers: keys == nil ? .none : .keys, card: isSilent ? nil : card,
            staysAlone: call.configuration.staysAlone)
        (presenter.isDuet, presenter.isGuest) = (options.isDuet, true)
        do {
            try options.voice.addEffects(to: call)
            try entrance.enter(found, pin, own, presenter, keys)
        } catch {
            Terminal.live("")
            waiting { await call.close() }
            throw card.error ?? error
        }
        roomName = found.name
    }
}

extension CallOptions {
    /// Returns the configuration of a call with these options.
    /// - Parameter canAsk: true if the user can answer questions on a terminal.
    func configuration(canAsk: Bool) -> LiveCall.Configuration {
        var configuration = LiveCall.Configuration()
        configuration.duration = duration
        configuration.voiceProcessing = voice.voiceProcessing
        configuration.monitor = voice.monitor
        configuration.receivedFilesFolder = receive
        configuration.duetFolder = duetFolder
        configuration.announcesSong = announcesSong
        recording.apply(to: &configuration, canAsk: canAsk)
        return configuration
    }

    /// Throws if received files or recordings cannot be stored in their folders, or a file of the accompaniment is missing. The
    /// folder of a recording may be missing.
    func checkFolders() throws(Failure) {
        try Self.checkFolder(receive)
        try accompaniment.check()
        try checkDuetFolder()
        guard recording.record != nil else { return }
        do throws(CallRecordingError) {
            try RecordingFolder.check(recording.folder)
        } catch {
            guard case .folder(let path, let code) = error else { return }
            throw Self.failure(
                "--record \(path)", code, notAFolder: "not a folder. Choose another name or an existing folder.")
        }
    }

    /// Throws if received files cannot be stored in the folder.
    static func checkFolder(_ folder: String?) throws(Failure) {
        guard let folder else { return }
        var status = stat()
        let words = "--receive \(folder)"
        guard stat(folder, &status) == 0 else { throw failure(words, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw failure(words, ENOTDIR) }
        guard access(folder, W_OK | X_OK) == 0 else { throw failure(words, errno) }
    }

    private static func failure(
        _ words: String, _ code: Int32, notAFolder: String = "not a folder. Use an existing folder."
    ) -> Failure {
        let reason =
            switch code {
            case ENOENT: "no such folder. Create it first."
            case ENOTDIR: notAFolder
            default: String(cString: strerror(code))
            }
        return Failure("\(words): \(reason)", status: Failure.cannotCreate)
    }
}
