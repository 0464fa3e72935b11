import MediaTransport

/// Why a session cannot begin, or do what it was asked.
public enum NearbyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// TCP, or certificate and key.
    case signalling(String)
    /// UDP.
    case media(UDPSocketError)
    /// The identity, or the known peers.
    case store(NearbyStoreError)
    /// The system has no thread to spare.
    case noThread
    /// It hosts or joins already; leave first.
    case busy
    /// The session was closed.
    case closed

    /// One line for the user, with the next step.
    public var description: String {
        switch self {
        case .signalling(let words): words
        case .media(let error): error.description
        case .store(let error): error.description
        case .noThread: "the system has no thread to spare; see how many run with: ps -eLf | wc -l"
        case .busy: "this session is in a room already; leave it first"
        case .closed: "this session is closed; make another"
        }
    }
}
