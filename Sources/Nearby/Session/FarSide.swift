import AudioBase
import MediaTransport
import Rooms

/// What a session keeps of the media with one member.
struct FarSide {
    /// How far the two have come.
    enum Stage {
        /// An offer is to be made.
        case idle
        /// Ours is under way.
        case offering(OfferID, SessionDescription)
        /// Both descriptions are known.
        case agreed
        /// The other side is to offer, or to come back.
        case waiting
    }

    /// Seconds for media to come once both descriptions are known.
    static let patience = 2.0
    /// Seconds until a failed offer is made again, at first and at last.
    static let delays = 0.5...15.0

    var member: Member
    var stage = Stage.idle
    /// The offer that led to the present session.
    var offer: OfferID?
    /// When an offer is to be made.
    var nextOffer: HostTime?
    var delay = FarSide.delays.lowerBound
    /// Since when media should be there and is not.
    var missingSince: HostTime?
    /// What the other side has said of itself, to which addresses are added.
    var remote: TransportRemote?
    /// The way that the port keeps; nil where there is none.
    var way: MediaPort.Way?

    init(_ member: Member) { self.member = member }

    /// When something is to be done.
    var deadline: HostTime? {
        [nextOffer, missingSince?.advanced(bySeconds: Self.patience)].compactMap { $0 }.min()
    }

    /// An offer is to be made after a while, each time after a longer one.
    mutating func retry(at now: HostTime) {
        stage = .idle
        nextOffer = now.advanced(bySeconds: delay)
        delay = min(Self.delays.upperBound, delay * 2)
    }
}
