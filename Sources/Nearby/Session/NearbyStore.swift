// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Foundation
import Glibc
import Synchronization

/// A machine's identity, known peers and their volumes: `identity.pem`, `known-peers.json` and `peer-volumes.json`, all of mode
/// 0600, in a folder of mode 0700. Any thread; several processes may use one folder.
public struct NearbyStore: Sendable {
    private enum Place {
        case memory(Memory)
        case directory(String)
    }

    private final class Memory: Sendable {
        let identity = Mutex<Identity?>(nil)
        let knownPeers = Mutex(KnownPeers())
        let volumes = Mutex(PeerVolumes())
    }

    /// The version of the file of known peers, by the file's metadata; all zero if there is no file.
    struct Version: Hashable, Sendable {
        var inode: UInt64 = 0
        var size = 0
        var seconds = 0
        var nanoseconds = 0
    }

    private let place: Place
    /// The queue on which files are accessed one after the other.
    private static let queue = DispatchQueue(label: "earshot.store")
    /// The maximum bytes of an identity's file.
    private static let maximumIdentitySize = 65_536

    /// Creates a store in this folder, which is created when needed.
    public init(directory: String) { place = .directory(directory) }

    private init(_ place: Place) { self.place = place }

    /// Creates a store in memory with a new identity. Hosts do not remember a guest with such an identity.
    public static func inMemory() -> NearbyStore { NearbyStore(.memory(Memory())) }

    /// The user's store: `earshot` in `$XDG_DATA_HOME`, else in `~/.local/share`.
    public static var standard: NearbyStore { NearbyStore(directory: UserFolder.data + "/earshot") }

    /// The store's folder; nil for a store in memory.
    public var directory: String? {
        if case .directory(let path) = place { path } else { nil }
    }

    /// Returns this machine's identity: the stored key, or a new one, with a current certificate.
    /// - Parameters:
    ///   - date: the current date, in seconds since 1970.
    package func identity(
        hostNames: [String] = [], addresses: [IPAddress] = [], at date: Int64 = Self.now
    ) throws(NearbyStoreError) -> Identity {
        switch place {
        case .memory(let memory):
            do {
                return try memory.identity.withLock { storedIdentity in
                    let identity =
                        try storedIdentity?.reissued(hostNames: hostNames, addresses: addresses, at: date)
                        ?? Identity.generate(hostNames: hostNames, addresses: addresses, at: date)
                    storedIdentity = identity
                    return identity
                }
            } catch {
                throw .identity("", "\(error)")
            }
        case .directory(let directory):
            let path = directory + "/identity.pem"
            return try locked(directory) { () throws(NearbyStoreError) -> Identity in
                guard let text = try PrivateFile.read(path, limit: Self.maximumIdentitySize) else {
                    let generated = try Self.naming(path) {
                        try .generate(hostNames: hostNames, addresses: addresses, at: date)
                    }
                    try PrivateFile.write(Array((generated.privateKeyPEM + generated.certificatePEM).utf8), to: path)
                    return generated
                }
                let pem = String(decoding: text, as: UTF8.self)
                return try Self.naming(path) {
                    try Identity(privateKeyPEM: pem, certificatePEM: pem)
                        .reissued(hostNames: hostNames, addresses: addresses, at: date)
                }
            }
        }
    }

    /// Returns the known peers of this machine.
    package func knownPeers() throws(NearbyStoreError) -> KnownPeers {
        switch place {
        case .memory(let memory): memory.knownPeers.withLock { $0 }
        case .directory(let directory): try Self.readPeers(directory)
        }
    }

    /// Returns the known peers and the version of their file; nil if the file still has `version`.
    func knownPeers(unless version: Version?) throws(NearbyStoreError) -> (KnownPeers, Version?)? {
        // Unsafe calls of C: paths are C strings for the call, buffers are passed with their counts.
        guard case .directory(let directory) = place else { return (try knownPeers(), nil) }
        var status = stat()
        let exists = unsafe stat(Self.peersPath(directory), &status) == 0
        let currentVersion =
            exists
            ? Version(
                inode: UInt64(status.st_ino), size: Int(status.st_size), seconds: status.st_mtim.tv_sec,
                nanoseconds: status.st_mtim.tv_nsec) : Version()
        return currentVersion == version ? nil : (try knownPeers(), currentVersion)
    }

    /// Runs `body` on the store's queue, without waiting for it.
    func later(_ body: @escaping @Sendable (NearbyStore) -> Void) { Self.queue.async { body(self) } }

    /// Runs `body` on the store's queue and waits, without blocking a thread that tasks share.
    func elsewhere<Result: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (NearbyStore) throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let result = await withCheckedContinuation { continuation in
            later { store in
                continuation.resume(returning: Swift.Result { () throws(Failure) in try body(store) })
            }
        }
        return try result.get()
    }

    /// Changes the known peers, and returns them as changed. A file that cannot be read is not changed.
    @discardableResult
    package func update(_ change: (inout KnownPeers) -> Void) throws(NearbyStoreError) -> KnownPeers {
        switch place {
        case .memory(let memory):
            return memory.knownPeers.withLock {
                change(&$0)
                return $0
            }
        case .directory(let directory):
            return try locked(directory) { () throws(NearbyStoreError) -> KnownPeers in
                var peers = try Self.readPeers(directory)
                let old = peers
                change(&peers)
                if peers != old { try PrivateFile.write(peers.file, to: Self.peersPath(directory)) }
                return peers
            }
        }
    }

    /// Returns the volumes that the user set for persons; none if their file cannot be read.
    package func peerVolumes() -> PeerVolumes {
        switch place {
        case .memory(let memory): memory.volumes.withLock { $0 }
        case .directory(let directory): Self.readVolumes(directory)
        }
    }

    /// Changes the volumes of persons. Replaces a damaged file, and leaves one of a later version as it is.
    package func updateVolumes(_ change: (inout PeerVolumes) -> Void) throws(NearbyStoreError) {
        switch place {
        case .memory(let memory): memory.volumes.withLock { change(&$0) }
        case .directory(let directory):
            try locked(directory) { () throws(NearbyStoreError) -> Void in
                let path = Self.volumesPath(directory)
                if try PrivateFile.isLater(path, than: PeerVolumes.version, limit: PeerVolumes.maximumFileSize) {
                    throw .laterVersion(path)
                }
                var volumes = Self.readVolumes(directory)
                let old = volumes
                change(&volumes)
                if volumes != old { try PrivateFile.write(volumes.file, to: path) }
            }
        }
    }

    /// The current date in seconds since 1970.
    package static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    private static func peersPath(_ directory: String) -> String { directory + "/known-peers.json" }

    private static func volumesPath(_ directory: String) -> String { directory + "/peer-volumes.json" }

    private static func readVolumes(_ directory: String) -> PeerVolumes {
        guard let file = try? PrivateFile.read(volumesPath(directory), limit: PeerVolumes.maximumFileSize) else {
            return PeerVolumes()
        }
        return PeerVolumes(parsing: file) ?? PeerVolumes()
    }

    private static func readPeers(_ directory: String) throws(NearbyStoreError) -> KnownPeers {
        let path = peersPath(directory)
        guard let file = try PrivateFile.read(path, limit: KnownPeers.maximumFileSize) else { return KnownPeers() }
        do throws(KnownPeersError) {
            return try KnownPeers(parsing: file)
        } catch {
            throw .knownPeers(path, error)
        }
    }

    private static func naming(_ path: String, _ body: () throws -> Identity) throws(NearbyStoreError) -> Identity {
        do {
            return try body()
        } catch {
            throw .identity(path, "\(error)")
        }
    }

    /// Runs `body` while holding the store's lock, which excludes other processes.
    private func locked<T>(_ directory: String, _ body: () throws(NearbyStoreError) -> T) throws(NearbyStoreError) -> T
    {
        try PrivateFile.makeDirectory(directory)
        return try PrivateFile.locked(directory + "/lock", body)
    }
}

/// The reason that the identity or the known peers cannot be read or written.
public enum NearbyStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A system error for a file; the value is an `errno`.
    case file(String, code: Int32)
    /// A later version of Earshot wrote the file. It was not changed.
    case laterVersion(String)
    /// The file is too large for its kind.
    case tooLarge(String)
    /// The key or certificate is invalid; the second value is the library's message.
    case identity(String, String)
    /// The file of known peers is unreadable.
    case knownPeers(String, KnownPeersError)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .file(let path, EWOULDBLOCK): "\(path) is held by another Earshot"
        case .file(let path, let code): unsafe "\(path): \(String(cString: strerror(code)))"
        case .laterVersion(let path): "\(path) is of a later version of Earshot and was not changed"
        case .tooLarge(let path): "\(path) is far too large for what it should be"
        case .identity(let path, let reason):
            "\(path): \(reason) (without the file you get a new key, which others must admit again)"
        case .knownPeers(let path, let error): "\(path): \(error)"
        }
    }
}
