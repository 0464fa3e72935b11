// SPDX-License-Identifier: Apache-2.0

import EarshotDuet
import EarshotRooms

/// The duet of a call as JSON.
package struct DuetDocument: Codable, Equatable, Sendable {
    /// Another singer.
    package struct Singer: Codable, Equatable, Sendable {
        /// The number of the participant.
        package var participant: UInt64
        /// True if the singer has agreed to the take.
        package var hasAgreed: Bool
        /// True if the singer cannot record the take, and has left it.
        package var cannotRecord: Bool
        /// True if the singer's voice of the take has arrived.
        package var hasArrived: Bool
        /// True if the singer is in the same room, and heard through the air.
        package var isNearby: Bool
        /// The part that the singer has, 1 or 2; nil if unknown.
        package var part: Int?
    }

    /// A voice of the take's mix, or its song.
    package struct MixedVoice: Codable, Equatable, Sendable {
        package var name: String
        package var isSong: Bool
        /// The balance of the next mix.
        package var balanceDb: Double
    }

    /// `noSong`, `gettingSong`, `agreeing`, `findingTime`, `counting`, `singing`, `paused`, `listening` or `ended`.
    package var phase: String
    /// The phase of those who sing a take without the local participant; nil if there are none.
    package var phaseOfOthers: String?
    /// The title of the song, or the name of the beat; nil before there is one.
    package var song: String?
    package var isBeat: Bool
    /// The length of the song in seconds.
    package var duration: Double?
    /// The position in the song in seconds; 0 before its beginning.
    package var seconds: Double
    /// The seconds until the song begins; nil except during the count-in.
    package var countdown: Double?
    /// The part of the song's file that has arrived, 0 to 1; nil unless it is arriving.
    package var arrivedPart: Double?
    /// The level of the guide vocal for the local participant, 0 to 1; nil if the song has none.
    package var guideLevel: Double?
    /// True if the guide vocal is here; nil if the song has none.
    package var hasGuide: Bool?
    /// The number of the take.
    package var take: Int
    /// True if the local participant has agreed to the take.
    package var hasAgreed: Bool
    /// `together`, `led` or `inTurn`; nil until it is decided.
    package var mode: String?
    /// The number of the participant who leads or whose turn it is, the local one included; nil if there is none.
    package var leader: UInt64?
    /// The part that the local participant has, 1 or 2; nil before it is chosen.
    package var part: Int?
    package var singers: [Singer]
    /// The path of the take's mix; nil until it is complete.
    package var mix: String?
    /// The name of that mix's preset.
    package var mixPreset: String?
    /// The voices of the mix; empty until it is complete.
    package var mixVoices: [MixedVoice]
    /// The paths of all mixes of the call, in order.
    package var mixes: [String]
    /// True while voices are exchanged and mixed.
    package var isBusy: Bool
    /// True if another singer's loudspeaker in the same room plays the song, and the local one is silent.
    package var isSongElsewhere: Bool

    package init(_ status: LiveDuetStatus) {
        let duet = status.duet
        phase = duet.phase.name
        phaseOfOthers = duet.phaseOfOthers?.name
        song = duet.song?.title
        isBeat = duet.song?.isBeat ?? false
        duration = duet.song?.duration
        seconds = Self.rounded(duet.position)
        if case .counting(let seconds) = duet.phase { countdown = Self.rounded(seconds) }
        arrivedPart = status.arrivedPart
        (guideLevel, hasGuide) = (status.guide.map { Self.rounded(Double($0.gain)) }, status.guide?.isHere)
        take = Int(duet.take)
        hasAgreed = duet.hasAgreed
        mode = duet.mode.map { mode in
            switch mode {
            case .together: "together"
            case .led: "led"
            case .inTurn: "inTurn"
            }
        }
        leader = duet.mode?.leader.map { UInt64($0.number) }
        part = duet.part
        singers = duet.singers.map {
            Singer(
                participant: UInt64($0.member.number), hasAgreed: $0.hasAgreed, cannotRecord: $0.cannotRecord,
                hasArrived: status.presentStems.contains($0.member), isNearby: $0.isNearby, part: $0.part)
        }
        mix = status.mixPath
        mixPreset = status.mixPath == nil ? nil : status.mixPreset.name
        mixVoices = status.balance.voices.map {
            MixedVoice(name: $0.name, isSong: $0.isSong, balanceDb: Double($0.decibels))
        }
        mixes = status.mixPaths
        isBusy = status.isBusy
        isSongElsewhere = status.isSongElsewhere
    }

    /// True from the count-in to the song's end.
    package var isSong: Bool { Self.isSong(phase) }
    /// Returns true for a phase from the count-in to the song's end.
    package static func isSong(_ phase: String) -> Bool { ["counting", "singing", "paused"].contains(phase) }
    /// True from the song's end on, of the others' song if they sing without the local participant.
    package var isOver: Bool { ["ended", "listening"].contains(phaseOfOthers ?? phase) }

    /// The duet without what changes with the clock.
    var withoutClock: DuetDocument {
        var document = self
        if phase != "paused" { document.seconds = 0 }
        (document.countdown, document.arrivedPart) = (nil, nil)
        return document
    }

    private static func rounded(_ seconds: Double) -> Double { (seconds * 1e3).rounded() / 1e3 }
}

extension DuetStatus.Phase {
    fileprivate var name: String {
        switch self {
        case .noSong: "noSong"
        case .gettingSong: "gettingSong"
        case .agreeing: "agreeing"
        case .findingTime: "findingTime"
        case .counting: "counting"
        case .singing: "singing"
        case .paused: "paused"
        case .listening: "listening"
        case .ended: "ended"
        }
    }
}
