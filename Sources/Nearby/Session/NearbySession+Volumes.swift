// SPDX-License-Identifier: Apache-2.0

/// The volumes that the user set for persons, in the session's store.
extension NearbySession {
    /// The volumes of earlier calls; none if their file cannot be read.
    package nonisolated var rememberedVolumes: PeerVolumes {
        get async { await store.elsewhere { $0.peerVolumes() } }
    }

    /// Stores volumes in the background, at the latest in ``close(endsRoom:)``. ``events`` reports a failure.
    package nonisolated func storeVolumes(_ volumes: [PeerVolumes.Entry]) {
        store.later { [eventContinuation] store in
            do throws(NearbyStoreError) {
                try store.updateVolumes { $0.apply(volumes) }
            } catch {
                eventContinuation.yield(.store(error))
            }
        }
    }
}
